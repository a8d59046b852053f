type Draw = () => void

/** What the parts of a page are, for those who have it read to them. */
export type Tags = {
  heading: (draw: Draw) => void
  paragraph: (draw: Draw) => void
  /** A picture, and what it says in words. */
  figure: (words: string, draw: Draw) => void
  headRow: (cells: Draw[]) => void
  row: (cells: Draw[]) => void
  /** Lines, colours, and what is repeated on every page: nobody wants to hear it. */
  aside: (draw: Draw) => void
  end: () => void
}

/** Rows of tables that are tagged; every cell of them costs an object in the file. */
export const mostTagged = 20_000

/** pdfkit knows this; its types do not. */
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

/** For tables too long to be heard. */
export const noTags: Tags = {
  heading: (draw) => draw(),
  paragraph: (draw) => draw(),
  figure: (_words, draw) => draw(),
  headRow: run,
  row: run,
  aside: (draw) => draw(),
  end: () => {},
}
