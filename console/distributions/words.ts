import type { Distribution } from '../shared/api/types.ts'

/** "AustralianFrankedDividends" as people write it. */
export const componentName = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')

type Named = Pick<Distribution, 'name' | 'externalCorporateActionId' | 'corporateActionID'>

/** What a distribution is called, also where nobody has named it. */
export const distributionName = ({ name, externalCorporateActionId, corporateActionID }: Named) =>
  name ?? externalCorporateActionId ?? `Distribution ${corporateActionID}`

const [paid, offered] = [3, 2]

/** Units are allotted of it, after it is paid. */
export const isReinvested = ({ drpIndicatorID }: Distribution) => drpIndicatorID === offered

/** Nothing of it is left to be done. */
export const isDone = (one: Distribution) =>
  (one.distributionStatusID ?? 0) > paid ||
  (one.distributionStatusID === paid && !isReinvested(one))
