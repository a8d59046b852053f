import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { migrationsFolder } from '../../src/platform/sql/migrate.ts'
import { recordStatements } from '../golden/statements.ts'
import { rowsOf } from '../support/database.ts'
import { entityOf } from '../support/investors.ts'
import { newAccounts, newProduct, only } from '../support/ledger.ts'
import { withService } from '../support/service.ts'

const file = new URL('0069-account-numbers-without-blanks.sql', migrationsFolder)

it('Account numbers of old lose the blanks around them, unless that makes two of one', () =>
  withService({}, async (service) => {
    const { admin, connection } = service
    const [first, other] = [await newProduct(service), await newProduct(service)]
    const numbers = async (productID: number, given: readonly string[]) => {
      const accounts = await newAccounts(service, productID, given.length)
      for (const [i, { accountID }] of accounts.entries())
        await rowsOf(connection, 'update account set account_number = $2 where account_id = $1', [
          ...[accountID, given[i]],
        ])
      return accounts.map(({ accountID }) => accountID)
    }
    const given = [' A1', 'B1 ', 'B1', ' C1', 'C1 ', '\tD 1\u00a0', 'E1 ', 'F1', '  ']
    const ids = await numbers(first.productID, given)
    const [same] = await numbers(other.productID, [' B1 '])
    await rowsOf(connection, `insert into retired_account_number values ($1, 'E1')`, [
      first.productID,
    ])
    await rowsOf(connection, readFileSync(file, 'utf8'))
    const now = await rowsOf(
      connection,
      `select account_number as number from account where account_id = any($1) order by account_id`,
      [[...ids, same]],
    )
    assert.deepEqual(
      now.map(({ number }) => number),
      ['A1', 'B1 ', 'B1', ' C1', 'C1 ', 'D 1', 'E1 ', 'F1', '  ', 'B1'],
    )
    const found = await admin.get(`/BizEntity?ProductID=${first.productID}&AccountNumber=A1`)
    assert.equal(found.recordCount, 1)
    const kept = await rowsOf(
      connection,
      `select image ->> 'account_number' as number from record_version
       where table_name = 'account' order by record_id`,
    )
    assert.deepEqual(
      kept.map(({ number }) => number),
      [' A1', '\tD 1\u00a0', ' B1 '],
    )
  }))

it('A new account gets a number in a few steps, however many of the next ones are taken', () =>
  withService({}, async (service) => {
    const { admin, connection } = service
    const { productID } = await newProduct(service)
    const open = async (accounts: object[] = [{ productID }]) => {
      const { accounts: made } = only(
        await admin.post('/BizEntity', entityOf(productID, { accounts })),
      )
      return made.map(({ accountNumber }: { accountNumber: string }) => Number(accountNumber))
    }
    const [last] = await open()
    // As of a register that was taken over with its numbers.
    await rowsOf(
      connection,
      `insert into retired_account_number (product_id, account_number)
       select $1, n::text from generate_series($2::int + 1, $2 + 3000) n`,
      [productID, last],
    )
    const recording = recordStatements()
    const numbers = await open([{ productID }, { productID }]).finally(recording.stop)
    assert.ok(new Set(numbers).size === 2 && Math.min(...numbers) > last + 3000, `${numbers}`)
    const drawn = recording.statements.filter((text) => /account_number_seq/.test(text)).length
    assert.ok(drawn <= 20, `${drawn} statements`)
    const [next] = await open()
    assert.ok(next > Math.max(...numbers))
  }))
