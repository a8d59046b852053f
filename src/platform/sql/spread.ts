import sql, { Sql as Statement } from 'sql-template-tag'

/** The mark at the end of SQL statements about the past: see known.ts. */
export const pastMark = '/* as known */'

export type Spread = {
  /** Whether the ledger is spread over several machines (Citus). The database is asked once. */
  isSpread: () => Promise<boolean>
  /** An SQL statement as it is sent: where the ledger is spread, its views are expanded. */
  placed: (statement: Statement) => Statement
}

/**
 * Where the ledger is spread, an SQL statement must name one product, and must not write to the
 * ledger and to local tables at once.
 */
export function spreadOver(query: (statement: Statement) => Promise<object[]>): Spread {
  let known: Promise<boolean> | undefined
  let views: Views = new Map()
  const ask = async () => {
    const citus = await query(sql`select 1 as one from pg_extension where extname = 'citus'`)
    if (citus.length === 0) return false
    const rows = (await query(viewsOfTheLedger)) as { name: string; text: string }[]
    views = new Map(rows.map(({ name, text }) => [name, text.replace(/;\s*$/, '')]))
    return true
  }
  const isSpread = () => {
    known ??= ask().catch(() => {
      known = undefined // asked again next time; until then, act as if spread, which works on both
      return true
    })
    return known
  }
  return {
    isSpread,
    placed: (statement) => (views.size > 0 ? written(statement, views) : statement),
  }
}

/** The definitions of views, by their names with the schema, such as `known.holding`. */
type Views = ReadonlyMap<string, string>

/** With an empty search path, pg_get_viewdef writes every name with its schema. */
const viewsOfTheLedger = sql`
  with path as materialized (select set_config('search_path', 'pg_catalog', true) as none)
  select n.nspname || '.' || c.relname as name, pg_get_viewdef(c.oid) as text
  from path join pg_class c on path.none is not null
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'v' and (n.nspname, c.relname) in (
    select 'public'::name, 'transaction_line'::name union all
    select 'known'::name, t.relname from pg_dist_partition d
    join pg_class t on t.oid = d.logicalrelid where d.partmethod = 'h' union all
    select 'known'::name, 'transaction_line'::name)`

/** A placeholder for the nth value of the SQL statement. */
const place = (i: number | string) => `⟦${i}⟧`
const places = /⟦(\d+)⟧/

/**
 * Replaces the views in an SQL statement by their definitions. Where a definition joins rows by
 * product, the product becomes the value with which the statement compares the view's alias.
 */
function written(statement: Statement, views: Views): Statement {
  const { strings, values } = statement
  const isPast = strings.at(-1)!.endsWith(pastMark)
  if (!isPast && !strings.some((part) => part.includes('transaction_line'))) return statement
  const schema = isPast ? 'known' : 'public'
  const text = strings.reduce((before, part, i) => before + place(i - 1) + part)
  const pieces = text
    .replace(source, (whole, verb: string, name: string, alias: string, at: number) => {
      if (!views.has(`${schema}.${name}`)) return whole
      const hasAlias = !reserved.test(alias)
      const own = hasAlias ? `\\b${alias}\\.` : '(?<![.\\w])'
      const bound = new RegExp(`${own}product_id = ${places.source}`).exec(text.slice(at))
      if (!bound) return whole
      const view = wordsOf(`${schema}.${name}`, bound[1]!, views)
      return `${verb} (${view}) ${hasAlias ? alias : `${name} ${alias}`}`
    })
    .split(places)
  const numbers = pieces.filter((_, i) => i % 2 === 1).map(Number)
  return new Statement(
    pieces.filter((_, i) => i % 2 === 0),
    numbers.map((i) => values[i]),
  )
}

const source = /\b(from|join)\s+(\w+)\s+(\w+)/g
const reserved = /^(where|join|left|cross|on|using|order|group|limit|union|as)$/

function wordsOf(name: string, product: string, views: Views): string {
  const view = views.get(name)!.replace(joined, place(product))
  return view.replace(/\bknown\.(\w+) (\w+)/g, (whole, inner: string, alias: string) =>
    views.has(`known.${inner}`) ? `(${wordsOf(`known.${inner}`, product, views)}) ${alias}` : whole,
  )
}

/** The right-hand side of a join by product: `.product_id = other.product_id`. */
const joined = /(?<=\.product_id = )\w+\.product_id\b/g

/**
 * Restricts an SQL statement to one product: every join by product_id becomes a comparison with the
 * value. Citus sends an SQL statement to the product's machine only if every ledger table in it,
 * however deeply nested, is compared with a value.
 */
export function inOneProduct({ strings, values }: Statement, productID: number): Statement {
  const [parts, all]: [string[], unknown[]] = [[''], []]
  const value = (one: unknown, rest: string) => {
    all.push(one)
    parts.push(rest)
  }
  for (const [i, part] of strings.entries()) {
    const [first = '', ...rest] = part.split(joined)
    if (i === 0) parts[0] = first
    else value(values[i - 1], first)
    for (const piece of rest) value(productID, piece)
  }
  return new Statement(parts, all as Statement['values'])
}

/**
 * Groups rows by product, in ascending order: an SQL statement that locks or writes ledger rows
 * names one product.
 */
export function byProduct<Row extends { productID: number }>(
  rows: readonly Row[],
): [number, Row[]][] {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.productID)
    if (group) group.push(row)
    else groups.set(row.productID, [row])
  }
  return [...groups].sort(([a], [b]) => a - b)
}

type Asking = { query<Row extends object>(statement: Statement): Promise<Row[]> }
type Streaming = Asking & {
  stream<Row extends object>(statement: Statement, batch: number): AsyncGenerator<Row[]>
}

/** A handle whose SQL statements all name this product. */
export const inProduct = <Handle extends Asking>(handle: Handle, productID: number): Handle => ({
  ...handle,
  query: <Row extends object>(statement: Statement) =>
    handle.query<Row>(inOneProduct(statement, productID)),
})

/** Like inProduct, for a handle that also streams. */
export const streamInProduct = <Handle extends Streaming>(
  handle: Handle,
  productID: number,
): Handle => ({
  ...inProduct(handle, productID),
  stream: <Row extends object>(statement: Statement, batch: number) =>
    handle.stream<Row>(inOneProduct(statement, productID), batch),
})
