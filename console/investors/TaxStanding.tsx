import { Stack, Text } from '@mantine/core'
import { useRead } from '../shared/api/products.ts'
import type { BizEntity, TaxStanding as Standing } from '../shared/api/types.ts'
import { percent } from '../shared/format.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure } from '../shared/view/Failure.tsx'
import { Card, Loading } from '../shared/view/Page.tsx'

const rules: { [rule: string]: string } = {
  Override: 'A percentage of its own',
  NoTfn: 'No tax file number quoted',
  NonResident: 'Resident elsewhere',
  None: 'Nothing is withheld',
}

/** The tax withheld from an investor's income, account by account, and why. */
export const TaxStanding = ({ entity }: { entity: BizEntity }) => (
  <Stack>
    {entity.accounts.map(({ accountID }) => (
      <OfAccount key={accountID} accountID={accountID ?? 0} />
    ))}
  </Stack>
)

function OfAccount({ accountID }: { accountID: number }) {
  const { data, error } = useRead<Standing[] | Standing>('/BizEntity/Account/TaxStanding', {
    AccountID: accountID,
  })
  if (error) return <Failure error={error} />
  if (!data) return <Loading />
  const [standing] = [data].flat()
  if (!standing) return null
  return (
    <Card title={`Withholding, account ${standing.accountNumber}`}>
      <Stack gap="sm">
        <Facts
          facts={[
            ['Rule', rules[standing.rule ?? ''] ?? standing.rule],
            ['Percentage of its own', percent(standing.overridePercentage)],
            ['Countries', standing.countryCodes.join(', ')],
          ]}
        />
        {standing.reasons.map((reason) => (
          <Text key={reason} size="sm" className="quiet">
            {reason}
          </Text>
        ))}
      </Stack>
    </Card>
  )
}
