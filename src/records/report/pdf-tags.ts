type Draw = () => void

/** Marks the parts of a page with their structure, for screen readers. */
export type Tags = {
  heading: (draw: Draw) => void
  paragraph: (draw: Draw) => void
  /** A picture with its description in words. */
  figure: (words: string, draw: Draw) => void
  headRow: (cells: Draw[]) => void
  row: (cells: Draw[]) => void
  /** Lines, colours and repeated titles, which a screen reader should skip. */
  aside: (draw: Draw) => void
  end: () => void
}

/** The most rows that a tagged table may have: every cell costs an object in the file. */
export const mostTagged = 20_000

/** pdfkit supports this option, but its types do not declare it. */
const headOptions: object = { scope: 'Column' }

export function tagsOf(doc: PDFKit.PDFDocument): Tags {
  const whole = doc.struct('Document')
  doc.addStructure(whole)
  const table = doc.struct('Table')
  let isHeaded = false
  const add = (kind: string, draw: Draw, options = {}) =>
    void whole.add(doc.struct(kind, options, [draw]))
  const rowOf = (kind: string, cells: Draw[]) => {
    if (!isHeaded) whole.add(table)
    isHeaded = true
    const options = kind === 'TH' ? headOptions : {}
    const children = cells.map((draw) => doc.struct(kind, options, [draw]))
    table.add(doc.struct('TR', {}, children))
  }
  const aside = (draw: Draw) => {
    doc.markContent('Artifact', { type: 'Layout' })
    draw()
    doc.endMarkedContent()
  }
  return {
    heading: (draw) => add('H1', draw),
    paragraph: (draw) => add('P', draw),
    figure: (alt, draw) => add('Figure', draw, { alt }),
    headRow: (cells) => (isHeaded ? aside(() => run(cells)) : rowOf('TH', cells)),
    row: (cells) => rowOf('TD', cells),
    aside,
    end: () => void whole.end(),
  }
}

const run = (draws: Draw[]) => {
  for (const draw of draws) draw()
}

/** Draws without tags, for tables too long to be read aloud. */
export const noTags: Tags = {
  heading: (draw) => draw(),
  paragraph: (draw) => draw(),
  figure: (_words, draw) => draw(),
  headRow: run,
  row: run,
  aside: (draw) => draw(),
  end: () => {},
}
