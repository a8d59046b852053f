import { count } from '../format.ts'
import type { Column } from './columns.ts'
import classes from './list.module.css'

type Props<Row> = {
  columns: Column<Row>[]
  /**
   * All rows, or as many as are printed; undefined where the browser's own print command was used.
   */
  rows: Row[] | undefined
  total: number | undefined
  /** The number of rows rendered in the list itself. */
  inView: number
}

/** A list for printing: a plain table whose head repeats on every page. */
export function OnPaper<Row>({ columns, rows, total = 0, inView }: Props<Row>) {
  const left = total - (rows?.length ?? inView)
  return (
    <>
      {left > 0 && (
        <p className={classes.left}>
          {rows
            ? `The first ${count(rows.length)} of ${count(total)} rows; the CSV has all.`
            : `Rows in view, of ${count(total)}: print by Ctrl P or the button for all.`}
        </p>
      )}
      {rows && (
        <table className={classes.paper}>
          <thead>
            <tr>
              {columns.map(({ id, title, right }) => (
                <th key={id} className={right ? 'num' : undefined}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              // Printed rows are neither reordered nor removed.
              <tr key={String(i)}>
                {columns.map(({ id, right, text }) => (
                  <td key={id} className={right ? 'num' : undefined}>
                    {text(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}
