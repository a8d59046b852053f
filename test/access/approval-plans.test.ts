import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readApprovals } from '../../src/access/approval/sql.ts'
import { investmentEndpoints } from '../../src/catalogue/investment/routes.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import { withoutHiddenParents } from '../../src/parties/biz-entity/hidden-parents.ts'
import { namesUnseen } from '../../src/parties/biz-entity/unseen.ts'
import { rowsOf } from '../support/database.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { withService } from '../support/service.ts'

const desk = { veil: { namesUnseen, over: withoutHiddenParents }, writes: () => writes }
/** The write operations, which a rule may hold back. */
const writes = investmentEndpoints.filter((one) => one.kind === 'write')

it('What waits for approval is read by itself, however much was decided', () =>
  withService({}, async ({ connection }) => {
    await rowsOf(
      connection,
      `insert into approval (state, operation, resource, user_id, username, approval_rule_id,
        required_approvals, request, expires_date)
      select case when n % 2000 = 0 then 'Pending' else 'Approved' end, 'PUT /Investment',
        'Investment', 2, 'maker', 1, 1, '',
        now() + case when n % 4000 = 0 then -1 else 1 end * interval '1 day'
      from generate_series(1, 20000) n`,
    )
    await rowsOf(connection, 'analyze approval')
    const database = openAsService(connection)
    try {
      for (const query of [
        { State: 'Pending' },
        { State: 'Expired' },
        { ToDecide: true },
      ] as const) {
        const readings = await readingsOf(database, async (tx) => {
          const found = await readApprovals(tx, operator, desk, query)
          assert.equal(found.recordCount, 5, JSON.stringify(query))
        })
        const rows = readings.filter(({ table }) => /^approval/.test(table)).map((one) => one.rows)
        assert.ok(rows.length > 0 && Math.max(...rows) <= 20, `${JSON.stringify(query)}: ${rows}`)
      }
    } finally {
      await database.close()
    }
  }))
