/** What changes the direction of a text, or is not seen: exe.fdp would look like pdf.exe. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * A file's name as it is stored and returned: the last part of whatever path a client sent. It is
 * data only: no file of ours is ever named after it.
 */
export function safeName(given: string | undefined): string {
  const last = (given ?? '').split(/[/\\]/).at(-1)!.replace(unseen, '').trim()
  return /^\.*$/.test(last) ? 'file' : last
}
