// `node scripts/run.mjs main` runs a program of the registry from its sources. It first installs
// and builds what is missing. It is plain JavaScript of 2020, so that an old version of Node can
// run it far enough to print that it is too old.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const oldestNode = [20, 19]
const inTree = (...names) => join(root, ...names)
const dist = inTree('dist')
const lockFile = join(dist, '.lock')
/** The console is built separately: a change of the service does not rebuild it, and vice versa. */
const consoleDist = join(dist, 'console')
const lockPatienceMs = 10 * 60 * 1000

/** Installs the packages of package-lock.json, unless they are installed. */
export async function install() {
  const wanted = sha256([inTree('package-lock.json')])
  const stamp = inTree('node_modules', '.registry-installed')
  const isDone = () => read(stamp) === wanted || isInstalled()
  if (!isDone()) {
    await locked(() => {
      if (isDone()) return
      notice('Installing packages, once; this takes about a minute.')
      npmCi()
    })
  }
  if (read(stamp) !== wanted) tryWrite(stamp, wanted)
}

/** The stamp only saves the check of all packages; a tree that we may not write has no stamp. */
function tryWrite(file, text) {
  try {
    fs.writeFileSync(file, text)
  } catch {
    return
  }
}

/** Compares the lockfile with npm's record of its last install; somebody may have run npm. */
function isInstalled() {
  const packages = (text) => Object.entries(JSON.parse(text || '{}').packages || {})
  const present = new Map(packages(read(inTree('node_modules', '.package-lock.json'))))
  return packages(read(inTree('package-lock.json'))).every(([path, { version, optional }]) => {
    if (path === '' || optional) return true
    return present.has(path) && present.get(path).version === version
  })
}

function npmCi() {
  // The build needs the development packages even if NODE_ENV is production.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev']
  const npm = process.env.npm_execpath || ''
  const { status, error, stdout, stderr } = /npm-cli\.c?js$/.test(npm)
    ? command(process.execPath, [npm, ...args])
    : command('npm', args)
  if (status === 0) return
  if (error)
    throw new Error(`The packages cannot be installed, npm does not run: ${error.message}.`)
  const said = (stdout + stderr).split('\n').filter((line) => /^npm error ./.test(line))
  notice(said.slice(0, 5).join('\n')) // the lines after these are npm's manual
  throw new Error('The packages cannot be installed.')
}

/** Compiles src/ into dist/, unless dist/ was made from the same sources. */
export async function build() {
  const wanted = sha256(sources())
  const stamp = join(dist, '.built')
  if (read(stamp) === wanted) return
  await locked(async () => {
    if (read(stamp) === wanted) return
    notice('Building.')
    const draft = join(dist, `.new-${process.pid}`)
    compile(draft)
    const { bundle } = await import('./bundle.mjs')
    await bundle(draft)
    // A build that is interrupted after this has no stamp, so the next start repeats it.
    fs.rmSync(stamp, { force: true })
    for (const name of fs.readdirSync(dist)) {
      const path = join(dist, name)
      if (![lockFile, draft, consoleDist].includes(path)) fs.rmSync(path, { recursive: true })
    }
    for (const name of fs.readdirSync(draft)) fs.renameSync(join(draft, name), join(dist, name))
    fs.rmdirSync(draft)
    fs.writeFileSync(stamp, wanted)
  })
}

function compile(folder) {
  const tsc = inTree('node_modules', 'typescript', 'bin', 'tsc')
  const args = [tsc, '-p', inTree('tsconfig.build.json'), '--outDir', folder]
  const { status, stdout, stderr } = command(process.execPath, args)
  if (status === 0) return
  fs.rmSync(folder, { recursive: true, force: true })
  process.stderr.write(stdout + stderr)
  throw new Error('The sources do not compile.')
}

/** Builds console/ into dist/console/, unless that was made from the same sources. */
export async function buildConsole() {
  const wanted = sha256([...filesIn(inTree('console')).sort(), inTree('package-lock.json')])
  const stamp = join(consoleDist, '.built')
  if (read(stamp) === wanted) return
  await locked(async () => {
    if (read(stamp) === wanted) return
    notice('Building the console, once; this takes some seconds.')
    const draft = join(dist, `.console-${process.pid}`)
    const { bundle } = await import('./console.mjs')
    await bundle(inTree('console'), draft)
    fs.writeFileSync(join(draft, '.built'), wanted)
    fs.rmSync(consoleDist, { recursive: true, force: true })
    fs.renameSync(draft, consoleDist)
  })
}

function sources() {
  const configs = fs.readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name))
  return [...filesIn(inTree('src')), ...configs.map((name) => inTree(name))]
    .sort()
    .concat(inTree('package-lock.json'), inTree('scripts', 'bundle.mjs'))
}

function filesIn(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
    )
}

function sha256(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const content = fs.readFileSync(file)
    hash.update(`${file.slice(root.length)} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const command = (file, args) =>
  spawnSync(file, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8, windowsHide: true })

/** Lets one process at a time install or build; the others wait and then find it done. */
async function locked(work) {
  makeDist()
  for (const start = Date.now(); !takeLock(); ) {
    if (Date.now() - start > lockPatienceMs) {
      throw new Error(`Another process (${read(lockFile)}) is building; else remove ${lockFile}.`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  try {
    await work()
  } finally {
    fs.rmSync(lockFile, { force: true })
  }
}

function makeDist() {
  try {
    fs.mkdirSync(dist, { recursive: true })
    fs.accessSync(dist, fs.constants.W_OK)
  } catch {
    throw new Error(`${root} must be installed and built by a user who can write it.`)
  }
}

function takeLock() {
  try {
    fs.writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  const holder = Number(read(lockFile))
  if (holder && !isAlive(holder) && Number(read(lockFile)) === holder) {
    fs.rmSync(lockFile, { force: true }) // the process that held the lock was killed
  }
  return false
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

// Writes to the error stream: another program may read what the started program prints.
const notice = (text) => process.stderr.write(`${text}\n`)

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return
  throw new Error(`Node ${oldestNode.join('.')} or newer is needed; this is ${process.version}.`)
}

/** Returns the file to import; the program runs in this process, so that signals reach it. */
async function run([entry = '', ...args]) {
  checkNode()
  if (!/^\w[\w/-]*$/.test(entry)) throw new Error('Usage: node scripts/run.mjs <entry> [arguments]')
  await install()
  await build()
  await buildConsole() // whichever program runs: a later start may not be able to write the tree
  const file = join(dist, `${entry}.js`)
  if (!fs.existsSync(file)) throw new Error(`There is no src/${entry}.ts.`)
  process.argv = [process.execPath, file, ...args]
  return file
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  run(process.argv.slice(2)).then(
    (file) => import(pathToFileURL(file).href),
    (error) => {
      notice(error.message)
      process.exitCode = 1
    },
  )
}
