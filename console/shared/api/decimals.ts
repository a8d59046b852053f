import { parseExactly } from '../../../client/src/json.ts'
import { decimalFields } from './decimal-fields.ts'

const decimals = new Set<string>(decimalFields)

/** JSON whose decimals are the very digits that were sent, as texts. */
export const readJson = (text: string): unknown => parseExactly(text, decimals)
