import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { Type } from 'typebox'
import { queryReader } from '../../src/platform/shape/input.ts'
import {
  conditions,
  dateFilter,
  dateTimeFilter,
  filterParameters,
  intFilter,
  lookupFilter,
  textFilter,
} from '../../src/platform/sql/filters.ts'
import { type Database, openDatabase } from '../../src/platform/sql/handle.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

/** A filter as one line of JavaScript, with which the SQL is compared. */
type Naive = (shown: string | null, value: string) => boolean

const filters = {
  Number: intFilter('n'),
  Day: dateFilter('d'),
  Moment: dateTimeFilter('t'),
  Text: textFilter('s'),
  Kind: lookupFilter('k', { One: 1, Two: 2, Four: 4 }),
}
type Name = keyof typeof filters

const order = (name: Name, value: string) => {
  if (name === 'Number' || name === 'Kind') return Number(value)
  return name === 'Moment' ? Math.floor(Date.parse(value) / 1000) : value
}
/** Compares by the type of the filter; a record without a value never matches. */
const compared = (name: Name, is: (a: number | string, b: number | string) => boolean): Naive => {
  return (shown, value) => shown !== null && is(order(name, shown), order(name, value))
}
const lower = (text: string | null) => (text ?? '').toLowerCase()

function naive(name: Name, operator: string): Naive {
  const equal = compared(name, (a, b) => a === b)
  const listed: Naive = (shown, value) => value.split(',').some((item) => equal(shown, item.trim()))
  const all: Record<string, Naive> = {
    equal,
    notEqual: (shown, value) => !equal(shown, value),
    in: listed,
    notIn: (shown, value) => !listed(shown, value),
    greaterThan: compared(name, (a, b) => a > b),
    greaterThanOrEqual: compared(name, (a, b) => a >= b),
    lessThan: compared(name, (a, b) => a < b),
    lessThanOrEqual: compared(name, (a, b) => a <= b),
    contains: (shown, value) => shown !== null && lower(shown).includes(lower(value)),
    beginsWith: (shown, value) => shown !== null && lower(shown).startsWith(lower(value)),
    endsWith: (shown, value) => shown !== null && lower(shown).endsWith(lower(value)),
  }
  return all[operator]!
}

const ordered = ['greaterThan', 'greaterThanOrEqual', 'lessThan', 'lessThanOrEqual']
const sets = ['equal', 'notEqual', 'in', 'notIn']
const operators: Record<Name, string[]> = {
  Number: [...sets, ...ordered],
  Day: [...sets, ...ordered],
  Moment: [...sets, ...ordered],
  Text: [...sets, 'contains', 'beginsWith', 'endsWith'],
  Kind: [...sets, ...ordered],
}

// Few values, so that they meet; whole seconds and parts of them; what LIKE and SQL make much of.
const digits = fc.integer({ min: 0, max: 9 })
const values: Record<Name, fc.Arbitrary<string>> = {
  Number: fc.oneof(
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.constantFrom('9007199254740991', '-9007199254740991', '2147483648'),
  ),
  Day: fc.oneof(
    digits.map((day) => `2024-02-2${day}`),
    fc.constantFrom('0001-01-01', '9999-12-31', '2023-12-31'),
  ),
  Moment: fc
    .tuple(
      digits,
      fc.constantFrom('', '.000001', '.5', '.999999'),
      fc.constantFrom('', 'Z', '+00:00'),
    )
    .map(([second, part, zone]) => `2024-02-29T23:59:5${second}${part}${zone}`),
  Text: fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'é', 'É', '%', '_', '\\', "'", '"', ' ', '😀'),
    minLength: 1,
    maxLength: 3,
  }),
  Kind: fc.constantFrom('-1', '0', '1', '2', '3', '4', '5', '9007199254740991'),
}
/** The values of a lookup column, which always has one of the lookup's ids. */
const stored: Partial<Record<Name, fc.Arbitrary<string>>> = { Kind: fc.constantFrom('1', '2', '4') }
const plainOf = (value: string) =>
  value.includes('T') && !/[Z+]/.test(value) ? `${value}Z` : value

const names = Object.keys(filters) as Name[]
const row = fc.tuple(...names.map((name) => stored[name] ?? fc.option(values[name], { freq: 4 })))
/** Values for lists, without those that are only blanks: a list refuses them as missing items. */
const listed = (name: Name) => values[name].filter((item) => item.trim() !== '')
const asked = fc.constantFrom(...names).chain((name) =>
  fc.constantFrom(...operators[name], '').chain((operator) => {
    const list = operator === 'in' || operator === 'notIn'
    const value = list
      ? fc.array(listed(name), { minLength: 1, maxLength: 4 }).map((items) => items.join(','))
      : values[name]
    return value.map((text) => ({ name, operator, text }))
  }),
)

describe('Filters', () => {
  let database: Database
  before(async () => {
    const connection = await freshDatabase()
    await rowsOf(
      connection,
      'create table scratch (id int, n bigint, d date, t timestamptz, s text, k int)',
    )
    database = openDatabase({
      connection,
      connections: 2,
      prepareStatements: true,
      onLostConnection: () => {},
    })
  })
  after(() => database.close())

  const read = queryReader(Type.Object(filterParameters(filters)))

  /** The places of the rows that a query finds, as the service reads and runs it. */
  async function picked(query: [string, string][]) {
    const found = await database.query<{ id: number }>(
      sql`select id from scratch where ${conditions(filters, read(query) as object)} order by id`,
    )
    return found.map(({ id }) => id)
  }

  it('pick what a naive filter picks: every operator, alone and combined', async () => {
    const queries = fc.uniqueArray(asked, {
      minLength: 1,
      maxLength: 3,
      selector: ({ name, operator }) => `${name}.${operator}`,
    })
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.array(queries, { minLength: 8, maxLength: 8 }),
      async (rows, many) => {
        await database.transaction(async (tx) => {
          await tx.query(sql`truncate scratch`)
          const columns = names.map((_, i) => rows.map((values) => values[i] ?? null))
          await tx.query(sql`
            insert into scratch select ordinality - 1, n, d, t, s, k from unnest(
              ${columns[0]}::bigint[], ${columns[1]}::date[], ${columns[2]}::timestamptz[],
              ${columns[3]}::text[], ${columns[4]}::int[])
              with ordinality u (n, d, t, s, k, ordinality)`)
        })
        for (const query of many) {
          const expected = rows.flatMap((values, i) =>
            query.every(({ name, operator, text }) => {
              const shown = values[names.indexOf(name)] ?? null
              const is = naive(name, operator || 'equal')
              return is(shown && plainOf(shown), text.split(',').map(plainOf).join(','))
            })
              ? [i]
              : [],
          )
          const given = query.map(({ name, operator, text }): [string, string] => [
            operator ? `${name}.${operator}` : name,
            text,
          ])
          assert.deepEqual(await picked(given), expected, JSON.stringify({ rows, query }))
        }
      },
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('are offered with every operator of their type and no other', () => {
    const offered = Object.keys(filterParameters(filters))
    const expected = names.flatMap((name) => [name, ...operators[name].map((o) => `${name}.${o}`)])
    assert.deepEqual(offered.sort(), expected.sort())
  })

  it('refuse a value of the wrong type, and name it', async () => {
    const wrong: [string, string][] = [
      ['Number', 'x'],
      ['Number', '1.5'],
      ['Number', ''],
      ['Number', '9223372036854775808'],
      ['Number', '99999999999999999999999'],
      ['Number.in', '1,,2'],
      ['Number.in', '1,x'],
      ['Number.in', Array.from({ length: 1001 }, (_, i) => i).join(',')],
      ['Day', '2023-02-29'],
      ['Day', '2024-2-1'],
      ['Day', 'infinity'],
      ['Day', 'today'],
      ['Day.in', '2024-02-29,never'],
      ['Moment', '2024-02-29T24:00:00Z'],
      ['Moment', '2024-02-29T23:59:60Z'],
      ['Moment', '2024-02-29 23:59:59'],
      ['Moment.lessThan', '2024-02-29T00:00:00+23:00'],
      ['Moment.lessThan', '-infinity'],
      ['Text', ''],
      ['Text.contains', 'x'.repeat(256)],
      ['Text.equal', 'a\0b'],
      ['Text.equal', '\ufffd'],
    ]
    for (const given of wrong)
      assert.throws(
        () => read([given]),
        (refusal: { status: number; problems: { field: string }[] }) =>
          refusal.status === 400 &&
          refusal.problems.every(({ field }) => field.startsWith(given[0])),
        given.join('='),
      )
  })

  it('take moments of every place on Earth and days as their beginning', async () => {
    await database.transaction((tx) => tx.query(sql`truncate scratch`))
    for (const moment of ['2024-02-29T12:00:00+14:00', '2024-02-29T12:00-1200', '2024-02-29'])
      for (const operator of operators.Moment)
        assert.deepEqual(await picked([[`Moment.${operator}`, moment]]), [])
  })
})

describe('The parameters of a read', () => {
  let service: Service
  let dates: string[]
  before(async () => {
    service = await startService({ REGISTRY_MAX_PAGE_SIZE: '50' })
    for (let i = 0; i < 5; i++) await service.admin.post('/Product', { name: `P${i}` })
    await rowsOf(
      service.connection,
      `update audit a set occurred_date = m.moment from (
         select audit_id, '2024-01-01T00:00:00.25Z'::timestamptz + audit_id * interval '1 day'
           as moment from audit) m
       where m.audit_id = a.audit_id`,
    )
    const { data } = await service.admin.get('/Audit')
    dates = data.map(({ occurredDate }: { occurredDate: string }) => occurredDate)
  })
  after(() => service.stop())

  const found = async (query: string) => {
    const reply = await service.admin.get(`/Audit?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.data.map(({ occurredDate }: { occurredDate: string }) => occurredDate)
  }

  it('filter by what answers show', async () => {
    const [, second = '', third = ''] = dates
    const is = async (query: string, expected: string[]) =>
      assert.deepEqual(await found(query), expected, query)
    await is(`OccurredDate=${second}`, [second])
    await is(`OccurredDate.equal=${second}`, [second])
    await is(`OccurredDate.notEqual=${second}`, dates.toSpliced(1, 1))
    await is(`OccurredDate.in=${third},${second}`, [second, third])
    await is(`OccurredDate.notIn=${third},${second}`, dates.toSpliced(1, 2))
    await is(`OccurredDate.greaterThan=${second}`, dates.slice(2))
    await is(`OccurredDate.greaterThanOrEqual=${second}`, dates.slice(1))
    await is(`OccurredDate.lessThan=${third}`, dates.slice(0, 2))
    await is(`OccurredDate.lessThanOrEqual=${third}`, dates.slice(0, 3))
    await is(`OccurredDate.greaterThan=${second}&OccurredDate.lessThanOrEqual=${third}`, [third])
  })

  it('are refused when unknown, given twice or of another type, all at once', async () => {
    const query =
      'Colour=red&OccurredDate.about=2024-01-01&OccurredDate.contains=2&ResourceID=x' +
      '&Resource=Product&resource=User&PageSize=ten'
    const reply = await service.admin.get(`/Audit?${query}`)
    refused(reply, 400, 'unknown_parameter', 'given_twice', 'wrong_type')
    assert.deepEqual(fieldsOf(reply).sort(), [
      'Colour',
      'OccurredDate.about',
      'OccurredDate.contains',
      'PageSize',
      'Resource',
      'ResourceID',
    ])
  })

  it('page as the specification says', async () => {
    assert.equal((await found('')).length, dates.length)
    assert.deepEqual(await found('PageSize=2&PageNumber=2'), dates.slice(2, 4))
    assert.deepEqual(await found('PageSize=50&PageNumber=2'), [])
    const large = await service.admin.get('/Audit?PageSize=51')
    refused(large, 400, 'page_size_exceeded')
    assert.equal(large.message, 'PageSize = 51 exceeds the maximum allowed limit of 50')
    for (const size of ['0', '-1', '1.5', '1e1', '', ' 1', '%2B1', '1,2', 'NaN'])
      refused(await service.admin.get(`/Audit?PageSize=${size}`), 400)
    for (const number of ['0', '-1', '1.5', 'first', '9007199254740992', '99999999999999999999'])
      refused(await service.admin.get(`/Audit?PageNumber=${number}`), 400)
  })

  it('know that a page beyond the last is empty, however far', async () => {
    for (const number of ['100', '4294967296', '9007199254740991']) {
      const reply = await service.admin.get(`/Audit?PageNumber=${number}&PageSize=50`)
      assert.deepEqual([reply.status, reply.recordCount, reply.data], [200, 0, []])
    }
    const wide = { REGISTRY_MAX_PAGE_SIZE: '100000' }
    const last = '/Product?PageNumber=9007199254740991&PageSize=100000'
    const check = async ({ admin }: Service) => {
      const reply = await admin.get(last)
      assert.deepEqual([reply.status, reply.recordCount], [200, 0])
    }
    await withService(wide, check, service.connection)
  })
})
