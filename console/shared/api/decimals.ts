import { decimalFields } from './decimal-fields.ts'

/**
 * A quote inside a text is written \" in JSON, so `"amount":` with bare quotes is a field's name
 * and nothing else; the digits behind it go between quotes before any number is made of them.
 */
const written = new RegExp(`("(?:${decimalFields.join('|')})"\\s*:\\s*)(-?\\d[\\d.eE+-]*)`, 'g')

export const readJson = (text: string): unknown => JSON.parse(text.replace(written, '$1"$2"'))
