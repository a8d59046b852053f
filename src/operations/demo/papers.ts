import type { Perform } from './perform.ts'
import { manager } from './plan.ts'

/** A PDF of one page with a title, a text and the note that it is made up. */
async function pageOf(title: string, about: string): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit')
  const pdf = new PDFDocument({ size: 'A4', margin: 72 })
  const parts: Buffer[] = []
  pdf.on('data', (part: Buffer) => parts.push(part))
  const done = new Promise<Buffer>((resolve) => pdf.on('end', () => resolve(Buffer.concat(parts))))
  pdf.fontSize(9).fillColor('#5b6472').text(manager)
  pdf.moveDown().fontSize(20).fillColor('#0f554f').text(title)
  pdf.moveDown().fontSize(11).fillColor('#1f2933').text(about)
  pdf.moveDown().text('Made for a demonstration. Nobody in it exists.')
  pdf.end()
  return done
}

type Owner = { productID: number } | { bizEntityID: number }

/** A document of a product or an investor, with its file. */
export async function addPaper(
  perform: Perform,
  owner: Owner,
  { documentTypeID, name, about }: { documentTypeID: number; name: string; about: string },
) {
  const [made] = await perform.do('POST /Document', { ...owner, documentTypeID, name })
  const fileName = `${name.toLowerCase().replaceAll(' ', '-')}.pdf`
  const body = { documentID: made?.documentID, fileName, contentType: 'application/pdf' }
  await perform.upload('POST /Document/File', body, await pageOf(name, about))
}
