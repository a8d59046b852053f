// The programs of the service, each with its modules in a few files instead of hundreds: to find
// and read them one by one is most of what a start takes.
import { dirname, join, relative } from 'node:path'

const programs = ['main', 'worker', 'operations/cli/cli', 'records/statement/press-process']
/** Packages stay where npm put them, but for one that is hundreds of small modules itself. */
const isApart = (id) => !/^[./]/.test(id) && id !== 'typebox'

/** Bundles the programs among the compiled modules of a folder, in place. */
export async function bundle(folder) {
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: Object.fromEntries(programs.map((name) => [name, join(folder, `${name}.js`)])),
    external: isApart,
    platform: 'node',
    plugins: [ownAddresses(folder)],
  })
  await made.write({ dir: folder, format: 'esm', chunkFileNames: 'parts/[name]-[hash].js' })
  await made.close()
}

/** A module goes on from where it was to what lies beside it, wherever its code is now. */
const ownAddresses = (folder) => ({
  name: 'own-addresses',
  transform: (code, id) =>
    code.replaceAll(
      'import.meta.url',
      `new URL("@dist/${relative(folder, id)}", import.meta.url).href`,
    ),
  renderChunk: (code, { fileName }) =>
    code.replaceAll('"@dist/', `"${relative(dirname(fileName), '') || '.'}/`),
})
