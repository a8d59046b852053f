import type { Distribution } from '../shared/api/types.ts'

/** "AustralianFrankedDividends" as people write it. */
export const componentName = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')

type Named = Pick<Distribution, 'name' | 'externalCorporateActionId' | 'corporateActionID'>

/** What a distribution is called, also where nobody has named it. */
export const distributionName = ({ name, externalCorporateActionId, corporateActionID }: Named) =>
  name ?? externalCorporateActionId ?? `Distribution ${corporateActionID}`
