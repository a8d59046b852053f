import { readFileSync } from 'node:fs'
import { type Costs, need } from './model.ts'

/** `npm run bench:scale` estimates the servers for 1, 10 and 100 million accounts from results. */
type Line = { number: string; subject: number; against: number }
type Run = { size: string; results: Line[] }

const runs: Run[] = JSON.parse(readFileSync(new URL('../results.json', import.meta.url), 'utf8'))
const cores = 2
const large = runs.find(({ size }) => size === 'large')
if (!large) throw new Error('bench/results.json has no run of the size large.')
const lineOf = (number: string) => {
  const line = large.results.find((one) => one.number === number)
  if (!line) throw new Error(`bench/results.json has no figure ${number}.`)
  return line
}
const figure = (number: string) => lineOf(number).subject
const stages = (figure('4a') + figure('4b') + figure('4c')) / 1000
const costs: Costs = {
  posting: cores / figure('3'),
  postingInArray: cores / figure('3b'),
  entityRead: cores / figure('1'),
  entityWrite: cores / lineOf('8b').against, // one per request is the baseline of that row
  distribution: stages / 1e6,
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const round = (value: number) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
const tera = (value: number) => `${(value / 1e12).toFixed(2)} TB`
const heads = [
  ...['Accounts', 'Cores: writes', 'reads', 'distributions', 'One distribution', 'Nodes'],
  ...['Standbys', 'Workers', 'Ledger', 'Rest', 'Next wall'],
]
say(`| ${heads.join(' | ')} |`)
say(`|${heads.map((_, i) => (i < heads.length - 1 ? '---:|' : '---|')).join('')}`)
for (const accounts of [1e6, 1e7, 1e8]) {
  const it = need(accounts, costs)
  const cells = [
    accounts.toLocaleString('en'),
    ...[it.write, it.read, it.stage].map(round),
    `${round(it.hours)} h`,
    it.nodes,
    it.standbys,
    it.workers || 'none',
    tera(it.ledger),
    tera(it.identity),
    it.wall,
  ]
  say(`| ${cells.join(' | ')} |`)
}
