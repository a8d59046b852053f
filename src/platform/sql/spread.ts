import sql, { Sql as Statement } from 'sql-template-tag'

/** What the view of the ledger's lines says, once a spread database was met. */
let line: string | undefined

/**
 * Whether the ledger is spread over several machines (Citus): a statement must then name one
 * product, and may not write to the ledger and to local tables at once. Asked once.
 */
export function spreadOver(
  query: (statement: Statement) => Promise<object[]>,
): () => Promise<boolean> {
  let known: Promise<boolean> | undefined
  const ask = async () => {
    const rows = await query(sql`
      select pg_get_viewdef(to_regclass('transaction_line')) as line
      from pg_extension where extname = 'citus'`)
    const [found] = rows as { line: string | null }[]
    if (found?.line) line = `(${found.line.replace(/;\s*$/, '')})`
    return rows.length > 0
  }
  return () => {
    known ??= ask().catch(() => {
      known = undefined // it is asked again; until then we do what works on both
      return true
    })
    return known
  }
}

/** The view joins rows by their product, too: it is written out where it has to say which. */
const opened = (text: string) => (line ? text.replace(/\btransaction_line\b/g, line) : text)

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
    const [first = '', ...rest] = opened(part).split(/(?<=\.product_id = )\w+\.product_id\b/)
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
