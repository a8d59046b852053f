/**
 * The path of a value in a body, as refusals name it: `bizEntityParties[1].person.gender`. The body
 * itself has the empty path.
 */
export const inside = (path: string, field: string) => (path ? `${path}.${field}` : field)

export const itemOf = (path: string, index: number) => `${path}[${index}]`

/** The path of the nth item of a body that is a list. */
export type ItemPath = (index: number) => string

/**
 * The item paths of a body. Where one object stands for a list of one, the item's path is the
 * body's.
 */
export const itemPath = (body: unknown): ItemPath =>
  Array.isArray(body) ? (index) => itemOf('', index) : () => ''
