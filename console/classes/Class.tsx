import { Button } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useInvestments, useProduct } from '../shared/api/products.ts'
import type { Investment, InvestmentPrice } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { beside, day, price } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { LineChart } from '../shared/view/Chart.tsx'
import { Card, Empty, Missing, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { ClassForm } from './ClassForm.tsx'
import { OnePrice } from './OnePrice.tsx'
import { PastePrices } from './PastePrices.tsx'
import { pointsOf, usePrices } from './prices.ts'

const columns: Column<InvestmentPrice>[] = [
  { id: 'day', title: 'Day', text: ({ priceDate }) => day(priceDate) },
  { id: 'price', title: 'Unit price', right: true, text: (row) => price(row.price) },
  { id: 'in', title: 'Application', right: true, text: (row) => price(row.applicationPrice) },
  { id: 'out', title: 'Redemption', right: true, text: (row) => price(row.redemptionPrice) },
]

/** One class: its price over time, and every price. */
export function Class() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { slug } = useProduct()
  const may = useMay()
  const investment = useInvestments().find(({ investmentID }) => String(investmentID) === id)
  const [mode, setMode] = useState<'edit' | 'paste'>()
  const [opened, setOpened] = useState<InvestmentPrice>()
  const { prices = [] } = usePrices(investment?.investmentID ?? null)
  if (!investment)
    return (
      <Missing title="No such class" back={{ to: `/${slug}/classes`, label: 'Classes and prices' }}>
        It may be of another product.
      </Missing>
    )
  const close = () => setMode(undefined)
  const title = beside([investment.securityCode, investment.name])
  const actions = may('Investment.Write') && (
    <>
      <Button variant="default" onClick={() => setMode('edit')}>
        Edit
      </Button>
      <Button onClick={() => setMode('paste')}>Enter prices</Button>
    </>
  )
  return (
    <Page
      title={title}
      back={{ to: `/${slug}/classes`, label: 'Classes and prices' }}
      aside={<Active on={investment.isActive} />}
      actions={actions}
    >
      {prices.length > 1 && (
        <Card>
          <LineChart title={`Price of ${title}`} points={pointsOf(prices)} format={price} />
        </Card>
      )}
      <ListView<InvestmentPrice>
        id="prices"
        label="Prices"
        path="/Investment/Price"
        params={{ InvestmentID: investment.investmentID, Order: 'desc' }}
        filters={[
          { key: 'PriceDate.greaterThanOrEqual', label: 'From', kind: 'date' },
          { key: 'PriceDate.lessThanOrEqual', label: 'Until', kind: 'date' },
        ]}
        columns={columns}
        onOpen={setOpened}
        empty={<Empty title="No price">Enter the first one.</Empty>}
      />
      <FormDrawer
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        size="xl"
        title={`Price of ${day(opened?.priceDate)}`}
      >
        {opened && (
          <Edited<InvestmentPrice>
            path="/Investment/Price"
            params={{ InvestmentPriceID: opened.investmentPriceID }}
          >
            {(tagged) => <OnePrice tagged={tagged} onDone={() => setOpened(undefined)} />}
          </Edited>
        )}
      </FormDrawer>
      <FormDrawer opened={mode === 'edit'} onClose={close} title="Edit the class">
        <Edited<Investment> path="/Investment" params={{ InvestmentID: investment.investmentID }}>
          {(tagged) => <ClassForm tagged={tagged} onDone={close} />}
        </Edited>
      </FormDrawer>
      <FormDrawer opened={mode === 'paste'} onClose={close} title="Enter prices">
        <PastePrices investmentID={investment.investmentID ?? 0} onDone={close} />
      </FormDrawer>
    </Page>
  )
}
