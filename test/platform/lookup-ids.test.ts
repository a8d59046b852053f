import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

/** The only files that may have ids of lookup values: the lookups and the transaction kinds. */
const homes = [/^src\/platform\/lookup\//, /^src\/ledger\/biz-transaction\/kinds\.ts$/]

/** A pattern for fields and columns that hold the id of a lookup value. */
const field = '(?:type|status|method|indicator|term|period|currency)_?ID'
const bare = [
  new RegExp(`${field}"?\\s*(?:[=!]==?|=|<>|<=?|>=?)\\s*\\d`, 'gi'),
  new RegExp(`${field}\\s+(?:not\\s+)?in\\s*\\(\\d`, 'gi'),
  new RegExp(`case\\s+[\\w.]*${field}\\s+when\\s+\\d`, 'gi'),
]
const bareValue = new RegExp(`${field}['"]?:\\s*\\d`, 'gi')

/** The bare ids in a text. Examples in a schema.ts may have them, as callers write numbers. */
const bareIDs = (text: string, path = '') =>
  [...bare, ...(path.endsWith('/schema.ts') ? [] : [bareValue])].flatMap(
    (pattern) => text.match(pattern) ?? [],
  )

describe('Ids of lookup values', () => {
  it('stand as numbers nowhere but among the lookups and the kinds of transactions', () => {
    const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('src', name))
      .filter((path) => !homes.some((home) => home.test(path)))
      .flatMap((path) =>
        bareIDs(readFileSync(path, 'utf8'), path).map((what) => `${path}: ${what}`),
      )
    assert.deepEqual(found, [])
  })

  it('would be found in every way in which code and SQL write them', () => {
    for (const text of [
      'where b.biz_transaction_status_id <> 3',
      'type_id in (8, 9)',
      'e.status_id >= 2',
      'if (row.typeID === 5) return',
      'select case a.drp_type_id\n    when 2 then g.gross',
      "{ accountStatusID: 1, name: 'x' }",
    ])
      assert.equal(bareIDs(text).length, 1, text)
    assert.deepEqual(bareIDs('where status_id = $1 and account_id = 7 and n = any($2)'), [])
  })
})
