const quoted = (text: string) =>
  /[",;\t\r\n]|^#/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

export const csvLine = (cells: readonly string[]) => `${cells.map(quoted).join(',')}\r\n`
