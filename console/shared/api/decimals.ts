import { parseExactly } from '../../../client/src/json.ts'
import { decimalFields } from './decimal-fields.ts'

const decimals = new Set<string>(decimalFields)

/** Parses JSON and keeps decimals as texts with exactly the digits that were sent. */
export const readJson = (text: string): unknown => parseExactly(text, decimals)
