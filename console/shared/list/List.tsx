import { Box, Skeleton, VisuallyHidden } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { neededFor } from '../../frame/pages.ts'
import type { Params } from '../api/client.ts'
import { useMay } from '../permission.ts'
import { Failure } from '../view/Failure.tsx'
import { type Column, gridOf, type Longest } from './columns.ts'
import classes from './list.module.css'
import { OnPaper } from './OnPaper.tsx'
import { usePaper } from './paper.ts'
import { here, leaveAt, topOf } from './places.ts'
import type { Rows } from './use-rows.ts'

type Props<Row> = {
  label: string
  columns: Column<Row>[]
  rows: Rows<Row>
  /** The page that a row links to; its first cell is the link. */
  to?: (row: Row) => LinkProps
  /** What happens when a row is pressed, instead of a link. */
  onOpen?: (row: Row) => void
  empty: ReactNode
  /** The parameters that the list was read with. */
  params?: Params
  /** The chosen rows, for lists with actions on several rows. */
  chosen?: Chosen<Row>
}

export type Chosen<Row> = {
  has: (row: Row) => boolean
  toggle: (row: Row) => void
  can: (row: Row) => boolean
  /** Whether any row is chosen; `toggleAll` chooses all rows that match the filters, or none. */
  some?: boolean
  toggleAll?: (params: Params) => void
}

const rowHeight = 40
const headHeight = 38
/** The borders above and below, and room for a horizontal scrollbar. */
const edges = 14

/** A table of any length: only the rows in view are rendered, and only their data is fetched. */
export function List<Row>(props: Props<Row>) {
  const { label, columns, rows, to, onOpen, empty, chosen, params = {} } = props
  const scroller = useRef<HTMLDivElement>(null)
  const paper = usePaper(rows)
  const [place] = useState(() => `${here()} ${label}`)
  const [top] = useState(() => topOf(place))
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialOffset: top,
  })
  const items = virtual.getVirtualItems()
  const longest = useLongest(columns, items, rows)
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => rows.look(first, last), [rows.look, first, last])
  // Scrolls to where the list was left, once its length is known.
  const isKnown = rows.total !== undefined
  useLayoutEffect(() => {
    if (isKnown && top > 0) scroller.current?.scrollTo({ top })
  }, [isKnown, top])
  if (rows.error) return <Failure error={rows.error} retry={rows.retry} />
  if (rows.total === 0) return <div className="card">{empty}</div>
  const grid = gridOf(columns, longest, chosen ? 24 : 0)
  const tall = {
    '--all': `${virtual.getTotalSize()}px`,
    '--rows': `${virtual.getTotalSize() + headHeight + edges}px`,
  } as CSSProperties
  return (
    <>
      <OnPaper columns={columns} rows={paper} total={rows.total} inView={items.length} />
      <div
        ref={scroller}
        className={`card ${classes.scroller}`}
        data-on-paper={paper && true}
        role="table"
        aria-label={label}
        style={tall}
        aria-rowcount={rows.total === undefined ? -1 : rows.total + 1}
        onKeyDown={moveByArrows}
        onScroll={({ currentTarget }) => isKnown && leaveAt(place, currentTarget.scrollTop)}
        // Each list has its own scroll position.
        data-scroll-restoration-id={place}
        // Rows without a link take no focus, so the list itself does: users without a mouse scroll
        // it by keyboard.
        {...(!to && !onOpen && { tabIndex: 0 })}
      >
        <div className={classes.head} role="row" aria-rowindex={1} style={grid}>
          {chosen && (
            <span role="columnheader" className={classes.choose}>
              {chosen.toggleAll ? <ChooseAll chosen={chosen} params={params} /> : <Unseen />}
            </span>
          )}
          {columns.map(({ id, title, right }) => (
            <span key={id} role="columnheader" className={right ? 'num' : undefined}>
              {title}
            </span>
          ))}
        </div>
        <div role="rowgroup" className={classes.rows} style={{ minWidth: grid.minWidth }}>
          {items.map(({ index, start }) => {
            const row = rows.at(index)
            const place = { ...grid, '--top': `${start}px`, height: rowHeight }
            if (!row) return <Waiting key={index} index={index} columns={columns} style={place} />
            return (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 2}
                className={classes.row}
                style={place}
              >
                {chosen && <Choose row={row} chosen={chosen} name={columns[0]?.text(row) ?? ''} />}
                {columns.map((column, i) => (
                  <span
                    key={column.id}
                    role="cell"
                    className={`${classes.cell} ${column.right ? 'num' : ''}`}
                    title={column.text(row)}
                  >
                    {i === 0 ? (
                      <Lead row={row} column={column} to={to} onOpen={onOpen} />
                    ) : (
                      shown(column, row)
                    )}
                  </span>
                ))}
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}

/**
 * Columns widen as longer figures come into view and keep that width, so that scrolling does not
 * move them.
 */
function useLongest<Row>(columns: Column<Row>[], items: { index: number }[], rows: Rows<Row>) {
  const longest = useRef(new Map<string, number>()).current
  const inView = items.map(({ index }) => rows.at(index)).filter((row) => row !== undefined)
  for (const { id, text } of columns.filter(({ right }) => right))
    longest.set(id, Math.max(longest.get(id) ?? 0, ...inView.map((row) => text(row).length)))
  return longest as Longest
}

const shown = <Row,>(column: Column<Row>, row: Row) => column.cell?.(row) ?? column.text(row)

type LeadProps<Row> = Pick<Props<Row>, 'to' | 'onOpen'> & { row: Row; column: Column<Row> }

/** The first cell of a row, which is the link of the whole row. */
function Lead<Row>({ row, column, to, onOpen }: LeadProps<Row>) {
  const may = useMay()
  const content = shown(column, row) || '(no name)'
  const target = to?.(row)
  if (target)
    return !may(neededFor(target.to ?? '')) ? (
      content
    ) : (
      <Link {...target} className={classes.lead} data-row>
        {content}
      </Link>
    )
  if (!onOpen) return content
  return (
    <button type="button" className={classes.lead} data-row onClick={() => onOpen(row)}>
      {content}
    </button>
  )
}

const Unseen = () => <VisuallyHidden>Chosen</VisuallyHidden>

type ChooseAllProps<Row> = { chosen: Chosen<Row>; params: Params }

const ChooseAll = <Row,>({ chosen: { some = false, toggleAll }, params }: ChooseAllProps<Row>) => (
  <input
    type="checkbox"
    aria-label="Choose all"
    title={some ? 'Choose none' : 'Choose all'}
    checked={some}
    onChange={() => toggleAll?.(params)}
  />
)

type ChooseProps<Row> = { row: Row; name: string; chosen: NonNullable<Props<Row>['chosen']> }

const Choose = <Row,>({ row, name, chosen }: ChooseProps<Row>) => (
  <span role="cell" className={classes.choose}>
    {chosen.can(row) && (
      <input
        type="checkbox"
        aria-label={`Choose ${name}`}
        checked={chosen.has(row)}
        onChange={() => chosen.toggle(row)}
      />
    )}
  </span>
)

type WaitingProps = { index: number; columns: { id: string }[]; style: object }

const Waiting = ({ index, columns, style }: WaitingProps) => (
  <div role="row" aria-rowindex={index + 2} className={classes.row} style={style}>
    {columns.map(({ id }) => (
      <span key={id} role="cell" className={classes.cell}>
        <Box py={4}>
          <Skeleton height={12} w="60%" />
        </Box>
      </span>
    ))}
  </div>
)

/** The arrow keys, j and k move the focus from row to row. */
function moveByArrows(event: KeyboardEvent<HTMLDivElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key]
  if (!step || !(event.target as HTMLElement).matches('[data-row]')) return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')]
  const next = links[links.indexOf(event.target as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
