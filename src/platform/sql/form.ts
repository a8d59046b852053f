import { Sql } from 'sql-template-tag'

/**
 * A statement whose text is made once: symbols stand for the values that each run brings. To put a
 * long text together, and to find the name it is prepared under, costs more than to send it.
 */
export type Form = { readonly text: string; readonly values: unknown[] }

/** The values of a run, by the symbols that stand for them. */
export type Given = ReadonlyMap<symbol, unknown>

const valuesIn = (values: readonly unknown[], given: Given) =>
  values.map((value) => (typeof value === 'symbol' ? given.get(value) : value))

export const filled = ({ text, values }: Form, given: Given): Form => ({
  text,
  values: valuesIn(values, given),
})

/** The same as a statement that is made for this run. */
export const filledOnce = ({ strings, values }: Sql, given: Given): Sql =>
  new Sql(strings, valuesIn(values, given))

/** A statement that keeps its text, for runs that differ in values alone. */
export class Made extends Sql {
  readonly #text: string

  constructor({ strings, text }: Sql, values: readonly unknown[]) {
    super(strings, values)
    this.#text = text
  }

  override get text() {
    return this.#text
  }

  /** The same with the values of a run; it can be put into others, as any statement. */
  with(given: Given): Made {
    return new Made(this, valuesIn(this.values, given))
  }
}

/** The statement that has a text of its own from now on. */
export const made = (statement: Sql): Made => new Made(statement, statement.values)

/** Texts that are kept of one kind: callers can leave fields out in any combination. */
const mostForms = 200

/** Makes a form when it is first asked for by its key, and keeps it. */
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
