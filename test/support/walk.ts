import type { Reply } from './client.ts'

/** A request in a walk through every operation (every-operation.ts). */
export type Ask = {
  operation: string
  query?: Record<string, string | number>
  body?: object
  headers?: Record<string, string>
}
export type Walk = Generator<Ask, void, Reply>
export type Asking<T> = Generator<Ask, T, Reply>

/** Secrets that must not turn up where they do not belong, and a name that may turn up anywhere. */
export type Carried = {
  name: string
  passwords: { admin: string; user: string; replaced: string; reset: string; document: string[] }
  taxFileNumbers: string[]
  tins: string[]
  bankAccounts: { number: string; other: string; cheque: string; iban: string }
}

export const ask = (
  operation: string,
  body?: object,
  more: Omit<Ask, 'operation' | 'body'> = {},
): Ask => (body ? { operation, body, ...more } : { operation, ...more })
export const find = (operation: string, query: Ask['query'] = {}) =>
  ask(operation, undefined, { query })

/** The single record of an answer, or the first of a list. */
export const one = ({ data }: Reply) => (Array.isArray(data) ? data[0] : data)
