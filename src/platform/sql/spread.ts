import sql, { Sql as Statement } from 'sql-template-tag'

/** What a statement about the past ends with: see known.ts. */
export const pastMark = '/* as known */'

export type Spread = {
  /** Whether the ledger is spread over several machines (Citus). Asked once. */
  isSpread: () => Promise<boolean>
  /** A statement as it is sent: where it is, views of the ledger are written out. */
  placed: (statement: Statement) => Statement
}

/**
 * Where the ledger is spread, a statement must name one product, and may not write to the ledger
 * and to local tables at once.
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
      known = undefined // it is asked again; until then we do what works on both
      return true
    })
    return known
  }
  return {
    isSpread,
    placed: (statement) => (views.size > 0 ? written(statement, views) : statement),
  }
}

/** By their names with the schema, as `known.holding`: what they say. */
type Views = ReadonlyMap<string, string>

/** Without a search path, every name in them has its schema. */
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

/** Where a value of the statement stood, by its number. */
const place = (i: number | string) => `⟦${i}⟧`
const places = /⟦(\d+)⟧/

/**
 * The statement with the views that it reads in their own words, in which rows are joined by their
 * product as well: that of the view's alias, which the statement compares with a value.
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

/** What a product is compared with where rows are joined by it. */
const joined = /(?<=\.product_id = )\w+\.product_id\b/g

/**
 * The same statement about rows of one product: wherever it joins two by their product, it says
 * which that is. Citus sends a statement to where its product lives only if every table of the
 * ledger in it, however deep, is compared with a value.
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

/** Rows by their product, in ascending order: a statement that locks or writes names one. */
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

/** The same handle for whoever works on one product: every statement says which. */
export const inProduct = <Handle extends Asking>(handle: Handle, productID: number): Handle => ({
  ...handle,
  query: <Row extends object>(statement: Statement) =>
    handle.query<Row>(inOneProduct(statement, productID)),
})

/** The same for a handle that streams, too. */
export const streamInProduct = <Handle extends Streaming>(
  handle: Handle,
  productID: number,
): Handle => ({
  ...inProduct(handle, productID),
  stream: <Row extends object>(statement: Statement, batch: number) =>
    handle.stream<Row>(inOneProduct(statement, productID), batch),
})
