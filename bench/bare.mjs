// The smallest server that answers the calls of a load: Fastify, pg, ten connections, one SQL
// statement per request. It has no rules, rights, sign-in, locks, idempotency or history; see
// README.md.
import fastify from 'fastify'
import pg from 'pg'
import { bareDeposit, bareDeposits, entitySQL } from './bare-sql.mjs'

const { BARE_PORT, DATABASE_URL } = process.env
const pool = new pg.Pool({
  connectionString: DATABASE_URL,
  max: 10,
  options: '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan',
})

const entity = `select row_to_json(r)::text as json from (${entitySQL('b.biz_entity_id = $1')}) r`

const answer = (reply, rows) =>
  reply
    .type('application/json')
    .send(`{"isSuccess":true,"data":[${rows.map(({ json }) => json).join()}]}`)

const server = fastify({ bodyLimit: 10 * 2 ** 20 })
server.post('/BizTransaction/Deposit', async ({ body }, reply) => {
  const isOne = !Array.isArray(body)
  const of = (name) => (isOne ? body[name] : body.map((item) => item[name]))
  const values = ['accountID', 'investmentID', 'transactionDate', 'amount'].map(of)
  const asked = isOne ? { name: 'one', text: bareDeposit } : { name: 'many', text: bareDeposits }
  return answer(reply, (await pool.query({ ...asked, values })).rows)
})
server.get('/BizEntity', async ({ query }, reply) => {
  const { rows } = await pool.query({ name: 'entity', text: entity, values: [query.BizEntityID] })
  return answer(reply, rows)
})
server.get('/Common/HealthCheck', () => ({ isSuccess: true }))
await server.listen({ port: Number(BARE_PORT), host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
