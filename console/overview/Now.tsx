import { isDone } from '../distributions/words.ts'
import { useByCurrency, useMoney } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { HoldingMonth } from '../shared/api/types.ts'
import { count, day } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { unread } from '../shared/view/Answer.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { InOthers } from '../shared/view/InOthers.tsx'
import { PageLink } from '../shared/view/PageLink.tsx'
import { byDay, useMonths, worth } from './months.ts'
import { pending, useDistributions, usePending } from './reads.ts'
import { Unpriced } from './Unpriced.tsx'

const redemption = 2

/**
 * The present figures of the product and the next tasks; each figure links to its list. A figure
 * that is not read yet, or that the user may not read, is not shown as 0.
 */
export function Now() {
  const may = useMay()
  const holds = may('BizTransaction.Read')
  const waits = may('BizEvent.Read')
  const pays = may('Distribution.Read')
  if (!holds && !waits && !pays) return null
  return (
    <Figures>
      {holds && <Worth />}
      {holds && <Holders />}
      {waits && <Pending />}
      {pays && <NextPayment />}
    </Figures>
  )
}

function Worth() {
  const { slug, currency } = useProduct()
  const money = useMoney()
  const months = useMonths()
  const days = byDay(months.data ?? [])
  const last = days.at(-1)?.[1] ?? []
  const [own, ...others] = useByCurrency()(last)
  if (!months.data) return <Figure label={`Value, ${currency}`} value={unread(months)} />
  const isOwn = ({ investmentID }: HoldingMonth) =>
    own.rows.some((one) => one.investmentID === investmentID)
  const before = (days.at(-2)?.[1] ?? []).filter(isOwn)
  const value = (rows: HoldingMonth[]) => money(worth(rows), rows[0]) || '—'
  return (
    <Figure
      label={`Value, ${own.currency}`}
      value={<PageLink to={`/${slug}/investors`}>{value(own.rows)}</PageLink>}
      note={
        <>
          <InOthers others={others} amount={({ rows }) => value(rows)} />
          {before.length > 0 && `${value(before)} on ${day(before[0]?.date)}`}
          <Unpriced rows={last} />
        </>
      }
    />
  )
}

function Holders() {
  const { slug } = useProduct()
  const months = useMonths()
  if (!months.data) return <Figure label="Holdings" value={unread(months)} />
  const last = byDay(months.data).at(-1)?.[1] ?? []
  return (
    <Figure
      label="Holdings"
      value={
        <PageLink to={`/${slug}/investors`}>
          {count(last.reduce((sum, { holders }) => sum + (holders ?? 0), 0))}
        </PageLink>
      }
      note={`in ${count(last.length)} ${last.length === 1 ? 'class' : 'classes'}`}
    />
  )
}

function Pending() {
  const { slug } = useProduct()
  const all = usePending()
  const redemptions = usePending({ BizEventTypeID: redemption }).data?.totalCount
  if (!all.data) return <Figure label="Notices pending" value={unread(all)} />
  return (
    <Figure
      label="Notices pending"
      value={
        <PageLink to={`/${slug}/notices?BizEventStatusID=${pending}`}>
          {count(all.data.totalCount ?? 0)}
        </PageLink>
      }
      note={
        redemptions !== undefined &&
        `${count(redemptions)} ${redemptions === 1 ? 'redemption' : 'redemptions'}`
      }
    />
  )
}

function NextPayment() {
  const { slug, today } = useProduct()
  const read = useDistributions()
  if (!read.data) return <Figure label="Next distribution" value={unread(read)} />
  const [next] = read.data
    .filter((one) => !isDone(one))
    .toSorted((a, b) => (a.paymentDate ?? '').localeCompare(b.paymentDate ?? ''))
  if (!next) return <Figure label="Next distribution" value="None" />
  const isLate = (next.paymentDate ?? '') < today()
  return (
    <Figure
      label={isLate ? 'Distribution overdue since' : 'Next distribution'}
      value={
        <PageLink to={`/${slug}/distributions/${next.corporateActionID}`}>
          {day(next.paymentDate)}
        </PageLink>
      }
      note={next.name}
    />
  )
}
