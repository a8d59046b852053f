// Bundles the programs of the service, so that each has its modules in a few files instead of
// hundreds: finding and reading hundreds of files is most of the time that a start takes.
import { dirname, join, relative } from 'node:path'

const programs = ['main', 'worker', 'operations/cli/cli', 'records/statement/press-process']
/** Packages stay in node_modules, except typebox, which itself has hundreds of small modules. */
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

/** Makes `import.meta.url` name the place of the original module, which finds files beside it. */
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
