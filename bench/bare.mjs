// The least that answers the same calls: Fastify, pg, ten connections, one statement per request.
// It knows no rules, no rights, no sign-in, no locks, no idempotency, no history; see README.md.
import fastify from 'fastify'
import pg from 'pg'
import { entitySQL } from './bare-sql.mjs'

const { BARE_PORT, DATABASE_URL } = process.env
const pool = new pg.Pool({
  connectionString: DATABASE_URL,
  max: 10,
  options: '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan',
})

/** A deposit at its price: the transaction, the holding, an audit row; the transaction as JSON. */
const deposits = (given) => `
  with given as (${given}),
  priced as (
    select g.*, v.price from given g cross join lateral (
      select p.price from investment_price p
      where p.investment_id = g.investment_id and p.price_date <= g.transaction_date
      order by p.price_date desc limit 1) v),
  written as (
    insert into bare.transaction (account_id, investment_id, transaction_date, price, amount,
      quantity)
    select account_id, investment_id, transaction_date, price, amount, round(amount / price, 4)
    from priced returning *),
  held as (
    insert into bare.holding as h (account_id, investment_id, quantity, amount)
    select account_id, investment_id, quantity, amount from written
    on conflict (account_id, investment_id) do update
      set quantity = h.quantity + excluded.quantity, amount = h.amount + excluded.amount),
  audited as (
    insert into bare.audit (username, operation, transaction_id, changes)
    select 'bench', 'POST /BizTransaction/Deposit', transaction_id, row_to_json(written)
    from written)
  select row_to_json(written)::text as json from written`

const columns = 'account_id, investment_id, transaction_date, amount'
const single = deposits(`select * from (
  values ($1::int, $2::int, $3::date, $4::numeric)) g (${columns})`)
const several = deposits(`select * from
  unnest($1::int[], $2::int[], $3::date[], $4::numeric[]) g (${columns})`)

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
  const asked = isOne ? { name: 'one', text: single } : { name: 'many', text: several }
  return answer(reply, (await pool.query({ ...asked, values })).rows)
})
server.get('/BizEntity', async ({ query }, reply) => {
  const { rows } = await pool.query({ name: 'entity', text: entity, values: [query.BizEntityID] })
  return answer(reply, rows)
})
server.get('/Common/HealthCheck', () => ({ isSuccess: true }))
await server.listen({ port: Number(BARE_PORT), host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
