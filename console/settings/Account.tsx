import { Stack } from '@mantine/core'
import { useProductNames, useReadNow } from '../shared/api/products.ts'
import type { Me } from '../shared/api/types.ts'
import { moment } from '../shared/format.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { ApiKeys } from './ApiKeys.tsx'
import { Password } from './Password.tsx'
import { SecondFactor } from './SecondFactor.tsx'
import { Sessions } from './Sessions.tsx'

/** The user's own account: password, second factor, sessions and API keys. */
export function Account() {
  const me = [useReadNow<Me | Me[]>('/User/Me', {})].flat()[0]
  return (
    <Page title="Your account" narrow>
      <Stack>
        <Card title={me?.username ?? 'You'}>
          <Facts
            facts={[
              ['Role', me?.role ?? 'Permissions of your own'],
              ['Products', useProductNames()(me?.productIDs ?? null)],
              ['Signed in', moment(me?.lastLoginDate)],
            ]}
          />
        </Card>
        <Password />
        <SecondFactor has={me?.hasSecondFactor ?? false} />
        <Sessions />
        <ApiKeys />
      </Stack>
    </Page>
  )
}
