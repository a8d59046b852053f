import type pg from 'pg'
import { type Client, clientOf } from './client.ts'
import { urlOf } from './database.ts'
import { startProgram, temporaryFolder, until } from './process.ts'
import { adminPassword, encryptionKey } from './service.ts'

export type Node = {
  url: string
  pid: number
  anyone: Client
  admin: Client
  /** Everything that the node has written so far: the greeting and the log. */
  output: () => string
  /** Ends the node as an operator does (SIGTERM); returns the exit code. */
  stop: () => Promise<number | null>
  /** Ends the node at once (SIGKILL), so that it cannot finish anything. */
  kill: () => Promise<number | null>
}

/** Starts a node in another process: on the given database with the shared secrets, or embedded. */
export async function startNode(
  connection: pg.ClientConfig | undefined,
  env: Record<string, string> = {},
): Promise<Node> {
  const program = startProgram({
    ...(connection && {
      DATABASE_URL: urlOf(connection),
      REGISTRY_ENCRYPTION_KEY: encryptionKey,
    }),
    REGISTRY_DATA_DIR: temporaryFolder(),
    REGISTRY_JWT_SECRET: 'a secret that all nodes of a test share',
    REGISTRY_ADMIN_USERNAME: 'admin',
    REGISTRY_ADMIN_PASSWORD: adminPassword,
    ...env,
  })
  const output = () => program.output() + program.errors()
  const url = await until('the node to listen', () => {
    if (!program.isUp()) throw new Error(`The node ended: ${output()}`)
    return /API +(https?:\S+)/.exec(program.output())?.[1]
  })
  const anyone = clientOf(url)
  const end = (signal: NodeJS.Signals) => () => {
    program.kill(signal)
    return program.exited
  }
  const [stop, kill] = [end('SIGTERM'), end('SIGKILL')]
  const password = env.REGISTRY_ADMIN_PASSWORD ?? adminPassword
  const admin = await anyone.signIn('admin', password).catch(async (error) => {
    await stop()
    throw error
  })
  return { url, pid: program.pid, anyone, admin, output, stop, kill }
}
