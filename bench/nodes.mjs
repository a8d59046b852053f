// `node bench/nodes.mjs 2` runs several processes of the service behind one port. Each is what
// `npm start` runs; this process only hands them connections.
import cluster from 'node:cluster'
import { join } from 'node:path'

const count = Number(process.argv[2])
cluster.setupPrimary({ exec: join(import.meta.dirname, '..', 'dist', 'main.js'), args: [] })
for (let i = 0; i < count; i++) cluster.fork()
const workers = () => Object.values(cluster.workers)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const worker of workers()) worker.process.kill(signal)
  })
cluster.on('exit', () => {
  if (workers().length === 0) process.exit(0)
})
