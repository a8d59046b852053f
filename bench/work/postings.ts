import { load, median, pgbench } from '../load.ts'
import { atLeast, type Bench, inTurns, result, type Workload } from '../measure.ts'

/** The rows of one deposit in one database transaction, as a plain server would write them. */
export const plainPosting = (entities: number) => `
\\set account random(1, ${entities})
\\set investment random(1, 12)
begin;
select a.product_id, i.unit_decimals, i.currency_id, v.price
  from account a, investment i, investment_price v
  where a.account_id = :account and i.investment_id = :investment
    and v.investment_id = i.investment_id and v.price_date = '2024-12-04';
select last_date from ledger_account
  where product_id = 1 and account_id = :account for update;
select quantity, invested_amount, cost_amount from holding
  where product_id = 1 and account_id = :account and investment_id = :investment;
insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
  transaction_date, investment_price, amount, quantity, closing_quantity, closing_amount,
  closing_cost, closing_gain)
  values (1, 1, :account, :investment, '2026-11-01', 1.1, 110, 100, 100, 110, 110, 0);
insert into holding values (1, :account, :investment, 100, 110, 110, 0)
  on conflict (product_id, account_id, investment_id) do update
  set quantity = holding.quantity + 100, invested_amount = holding.invested_amount + 110,
    cost_amount = holding.cost_amount + 110;
update ledger_account set last_date = '2026-11-01' where product_id = 1 and account_id = :account;
insert into audit (user_id, username, operation, resource, resource_id, product_id, changes,
  request_id)
  values (1, 'bench', 'POST /BizTransaction/Deposit', 'BizTransaction', :account, 1,
    '{"accountID":1,"investmentID":1,"transactionDate":"2026-11-01","amount":"110"}', 'bench');
commit;
`

/** The best rate of several client counts: the baseline gets the count that suits it. */
const bestOfPlain = ({ service, size }: Bench) =>
  Math.max(
    ...[4, 8, 16].map((clients) =>
      pgbench(service.connection, plainPosting(size.entities), clients, 2),
    ),
  )

export const depositCall = {
  method: 'POST',
  path: '/BizTransaction/Deposit',
  body: '{"accountID":{n},"investmentID":{i},"transactionDate":"2026-11-01","amount":110}',
}

/** Accounts all over the register, as if at random, but never the same in two arrays at a time. */
export const arrayCall = {
  ...depositCall,
  body: depositCall.body.replace('{n}', '{w}'),
  times: 1000,
}

/** Deposits one by one and in arrays, both in turns with the same baseline. */
export const deposits: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const single = (seconds: number) =>
    load(service, depositCall, { size: size.entities, seconds }).perSecond
  const arrays = (seconds: number) =>
    1000 * load(service, arrayCall, { size: size.entities, seconds, connections: 4 }).perSecond
  for (const warm of [single, arrays]) warm(size.warmSeconds)
  const inArrays: number[] = []
  const figures = await inTurns(
    rounds,
    () => {
      inArrays.push(arrays(4))
      return single(4)
    },
    () => bestOfPlain(bench),
  )
  return [
    result(
      {
        number: '3',
        work: 'POST /BizTransaction/Deposit, 64 connections',
        baseline: 'pgbench, one transaction per posting, best of 4, 8 and 16 clients',
        unit: 'a second',
      },
      figures,
      atLeast(1),
    ),
    result(
      {
        number: '3b',
        work: 'the same in arrays of 1000, 4 connections',
        baseline: 'the same pgbench',
        unit: 'postings a second',
      },
      { ...figures, subject: median(inArrays) },
      atLeast(5),
    ),
  ]
}
