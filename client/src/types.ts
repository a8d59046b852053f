/** Types that extract parameters, bodies and answers of an operation from the generated `paths`. */
type Json<T> = T extends { content: { 'application/json': infer J } } ? J : never

export type Method = 'get' | 'post' | 'put' | 'delete'

/** The paths with an operation of this method. */
export type PathOf<Paths, M extends Method> = {
  [P in keyof Paths]: Paths[P] extends { [K in M]: { responses: unknown } } ? P : never
}[keyof Paths] &
  string

type OperationOf<Paths, P extends keyof Paths, M extends Method> = Paths[P] extends {
  [K in M]: infer O
}
  ? O
  : never

export type QueryOf<Paths, P extends keyof Paths, M extends Method> =
  OperationOf<Paths, P, M> extends { parameters: { query?: infer Q } }
    ? NonNullable<Q>
    : Record<string, never>

export type BodyOf<Paths, P extends keyof Paths, M extends Method> =
  OperationOf<Paths, P, M> extends { requestBody?: infer B } ? Json<NonNullable<B>> : undefined

export type AnswerOf<Paths, P extends keyof Paths, M extends Method> =
  OperationOf<Paths, P, M> extends { responses: { 200: infer R } } ? Json<R> : never

export type DataOf<Paths, P extends keyof Paths, M extends Method> =
  AnswerOf<Paths, P, M> extends { data: infer D } ? D : never

export type ItemOf<Paths, P extends keyof Paths> =
  DataOf<Paths, P, 'get'> extends readonly (infer I)[] ? I : never
