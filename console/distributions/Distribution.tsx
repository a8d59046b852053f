import { Button, Stack } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useSeen } from '../frame/recent.ts'
import { type Money, useCurrencyID, useMoney } from '../shared/api/money.ts'
import { useProduct, useReadNow } from '../shared/api/products.ts'
import type { Distribution as Record } from '../shared/api/types.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { day, plain, price } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { type Fact, Facts } from '../shared/view/Facts.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Missing, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { Steps } from '../shared/view/Steps.tsx'
import { Accounts } from './Accounts.tsx'
import { rateOf } from './Distributions.tsx'
import { readBy } from './key.ts'
import { Reverse } from './Reverse.tsx'
import { Stage } from './Stage.tsx'
import { componentName, distributionName, isReinvested } from './words.ts'

const paid = 3

type PayOutProps = { id: string; slug: string; currencyID: number | null }

/** Leads to a new payment run for the posted cash, in the currency of the class. */
const PayOut = ({ id, slug, currencyID }: PayOutProps) => (
  <Button
    leftSection={<Icon name="payments" size={16} />}
    renderRoot={(props) => (
      <Link
        to="/$product/payments/new"
        params={{ product: slug }}
        search={{ distribution: id, currencyID: String(currencyID ?? '') }}
        {...props}
      />
    )}
  >
    Pay by bank
  </Button>
)

function RemoveConfigured({ distribution }: { distribution: Record }) {
  const { slug } = useProduct()
  const navigate = useNavigate()
  return (
    <Remove
      path="/Distribution"
      params={{ CorporateActionID: distribution.corporateActionID ?? 0 }}
      what="the distribution"
      done="The distribution is deleted."
      onDone={() => void navigate({ to: `/${slug}/distributions` })}
    >
      Nothing of it is declared yet, so nobody loses anything.
    </Remove>
  )
}

/** One distribution: its status, its next stage, and all its accounts. */
export function Distribution() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { productID, slug } = useProduct()
  const may = useMay()
  const [found] = useReadNow<Record[]>('/Distribution', readBy(productID, id))
  const money = useMoney(found)
  const currencyID = useCurrencyID()(found)
  const title = found ? distributionName(found) : `Distribution ${id}`
  useSeen(`/${slug}/distributions/${id}`, title, 'Distribution', found !== undefined)
  if (!found)
    return (
      <Missing
        title="No such distribution"
        back={{ to: `/${slug}/distributions`, label: 'Distributions' }}
      >
        It may be of another product.
      </Missing>
    )
  const status = found.distributionStatusID ?? 1
  const actions = (
    <>
      {may('Distribution.Write') &&
        (status > 1 || found.stageProgress ? (
          <Reverse distribution={found} />
        ) : (
          <RemoveConfigured distribution={found} />
        ))}
      {may('PaymentRun.Write') && status >= paid && (
        <PayOut id={id} slug={slug} currencyID={currencyID} />
      )}
    </>
  )
  return (
    <Page
      title={title}
      back={{ to: `/${slug}/distributions`, label: 'Distributions' }}
      aside={<Status category="DistributionStatus" id={status} />}
      actions={actions}
    >
      <Card>
        <Steps active={status} steps={isReinvested(found) ? steps : steps.slice(0, paid)} />
      </Card>
      <Stack>
        <Stage distribution={found} />
        <Card title="Configuration">
          <Facts facts={configuration(found, money)} />
        </Card>
        {status > 1 && <Accounts distribution={found} />}
      </Stack>
    </Page>
  )
}

const steps = [
  { label: 'Configured', description: 'Rate and dates' },
  { label: 'Declared', description: 'Entitlements locked' },
  { label: 'Paid', description: 'Cash posted' },
  { label: 'Completed', description: 'Units allotted' },
]

const configuration = (found: Record, money: Money): Fact[] => [
  ['Class', found.securityCode],
  ['Record date', day(found.recordDate)],
  ['Payment date', day(found.paymentDate)],
  ['Rate', rateOf(found, money)],
  [
    'Reinvestment',
    isReinvested(found) ? `into ${found.drpSecurityCode ?? 'a class'}` : 'Not offered',
  ],
  ['Reinvestment price', found.drpPrice ? price(found.drpPrice) : ''],
  ['Allotment date', day(found.drpAllotmentDate)],
  ...found.taxComponents.map(
    (one): Fact => [componentName(one.taxComponentName), `${plain(one.percentage)} %`],
  ),
]
