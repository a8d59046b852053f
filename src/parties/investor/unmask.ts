import type { Problem } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Row } from '../../platform/sql/rows.ts'
import { mask } from '../sealed/vault.ts'
import type { NestedKind } from './owned-kind.ts'

/**
 * Restores the stored value of a column whose mask the caller sent back. Any other value with an
 * asterisk is refused: it is no valid number.
 */
export function unmask(
  { masked = [], table }: NestedKind,
  row: Row,
  before: Row | undefined,
  path: string,
): Problem[] {
  return masked.flatMap((column): Problem[] => {
    const given = row[column]
    const stored = before?.[column]
    if (typeof given !== 'string' || !given.includes('*')) return []
    if (typeof stored === 'string' && given === mask(stored)) {
      row[column] = stored
      return []
    }
    const field = inside(path, table.columns.find(({ name }) => name === column)?.field ?? column)
    const message = `${field} has an asterisk and is not the masked number that is stored now.`
    return [{ code: 'masked_value', field, message }]
  })
}
