import { type Program, startProgram } from './process.ts'

export const printedPassword = ({ output }: Program) =>
  /First user admin, password (\S+)/.exec(output())?.[1]

/** Starts the service, which must fail; returns the exit code and everything it printed. */
export async function refusedStart(env: Record<string, string>) {
  const program = startProgram(env)
  const code = await program.exited
  return { code, words: program.errors(), output: program.output() }
}

export async function stop(program: Program) {
  program.kill('SIGTERM')
  return program.exited
}
