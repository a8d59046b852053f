// `npm run sbom` writes sbom.cdx.json: every package with its checksum, in CycloneDX format. npm
// makes it from package-lock.json, without network or installed packages, and marks the packages
// that only development needs. (npm's --omit=dev would also leave out packages that both need.)
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const file = process.argv[2] || join(root, 'sbom.cdx.json')
const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--offline']
const { status, error, stdout, stderr } = spawnSync('npm', args, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1e8,
})
if (status === 0) {
  fs.writeFileSync(file, stdout)
  process.stdout.write(`${JSON.parse(stdout).components.length} packages in ${file}\n`)
} else {
  process.stderr.write(`npm cannot list the packages: ${error ? error.message : stderr}\n`)
  process.exitCode = 1
}
