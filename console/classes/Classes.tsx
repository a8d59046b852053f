import { Button, SimpleGrid, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useInvestments, useProduct } from '../shared/api/products.ts'
import type { Investment } from '../shared/api/types.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { beside, day, price } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { unread } from '../shared/view/Answer.tsx'
import { LineChart } from '../shared/view/Chart.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Empty, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { ClassForm } from './ClassForm.tsx'
import { pointsOf, usePrices } from './prices.ts'

/** The unit classes of the product, each with its price over time. */
export function Classes() {
  const may = useMay()
  const investments = useInvestments()
  const [adding, setAdding] = useState(false)
  const add = may('Investment.Write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      New class
    </Button>
  )
  return (
    <Page title="Classes and prices" actions={add}>
      {investments.length === 0 && (
        <div className="card">
          <Empty title="No class yet">
            A class is what investors hold units of.{' '}
            {may('Investment.Write') && 'Make the first one, then enter its price.'}
          </Empty>
        </div>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {investments.map((investment) => (
          <ClassCard key={investment.investmentID} investment={investment} />
        ))}
      </SimpleGrid>
      <FormDrawer opened={adding} onClose={() => setAdding(false)} title="New class">
        <ClassForm onDone={() => setAdding(false)} />
      </FormDrawer>
    </Page>
  )
}

function ClassCard({ investment }: { investment: Investment }) {
  const { slug } = useProduct()
  const { investmentID, securityCode, name, isActive } = investment
  const { prices, isError } = usePrices(investmentID)
  const last = prices?.at(-1)
  return (
    <Card
      title={beside([securityCode, name])}
      actions={
        <>
          <Active on={isActive} />
          <Button
            size="compact-sm"
            variant="default"
            renderRoot={(props) => (
              <Link
                to="/$product/classes/$id"
                params={{ product: slug, id: String(investmentID) }}
                {...props}
              />
            )}
          >
            Prices
          </Button>
        </>
      }
    >
      <Text fz={24} fw={600} className="tabular">
        {prices ? price(last?.price) || 'No price' : unread({ isError })}
      </Text>
      <Text size="xs" className="quiet" mb="sm">
        {last && `on ${day(last.priceDate)}`}
        {prices?.length === 0 && 'Enter the first price to value holdings.'}
      </Text>
      <LineChart
        title={`Price of ${securityCode ?? name}`}
        points={pointsOf(prices ?? [])}
        format={price}
        tall={120}
      />
    </Card>
  )
}
