import { Sql } from 'sql-template-tag'

/**
 * An SQL statement whose text is made once: symbols stand for the values of each run. Assembling a
 * long text, and finding the name it is prepared under, costs more than sending it.
 */
export type Form = { readonly text: string; readonly values: unknown[] }

/** The values of one run, by the symbols that stand for them. */
export type Given = ReadonlyMap<symbol, unknown>

const valuesIn = (values: readonly unknown[], given: Given) =>
  values.map((value) => (typeof value === 'symbol' ? given.get(value) : value))

export const filled = ({ text, values }: Form, given: Given): Form => ({
  text,
  values: valuesIn(values, given),
})

/** Fills the symbols of an SQL statement that is used for this run only. */
export const filledOnce = ({ strings, values }: Sql, given: Given): Sql =>
  new Sql(strings, valuesIn(values, given))

/** An SQL statement that keeps its text, for runs that differ in their values only. */
export class Made extends Sql {
  readonly #text: string

  constructor({ strings, text }: Sql, values: readonly unknown[]) {
    super(strings, values)
    this.#text = text
  }

  override get text() {
    return this.#text
  }

  /** A copy with the values of one run; it can be embedded in other SQL statements. */
  with(given: Given): Made {
    return new Made(this, valuesIn(this.values, given))
  }
}

/** Turns an SQL statement into one that keeps its text. */
const made = (statement: Sql): Made => new Made(statement, statement.values)

/**
 * Returns what makes a statement once for each object that it depends on, such as the actor, and
 * keeps it as long as that object lives.
 */
export function madeForEach<By extends object>(make: (by: By) => Sql): (by: By) => Made {
  const kept = new WeakMap<By, Made>()
  return (by) => {
    const known = kept.get(by)
    if (known) return known
    const statement = made(make(by))
    kept.set(by, statement)
    return statement
  }
}

/** The most texts kept per kind: callers can leave out fields in any combination. */
const mostForms = 200

/** Returns the form for a key; makes it on first use and keeps it. */
export function keptForms(): (key: string, make: () => Form) => Form {
  const kept = new Map<string, Form>()
  return (key, make) => {
    const known = kept.get(key)
    if (known) return known
    const { text, values } = make()
    if (kept.size >= mostForms) kept.clear()
    const form = { text, values }
    kept.set(key, form)
    return form
  }
}
