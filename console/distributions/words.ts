import type { Distribution } from '../shared/api/types.ts'

/** "AustralianFrankedDividends" is "Australian Franked Dividends". */
export const componentName = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')

type Named = Pick<Distribution, 'name' | 'externalCorporateActionId' | 'corporateActionID'>

/** The name of a distribution, also where none was entered. */
export const distributionName = ({ name, externalCorporateActionId, corporateActionID }: Named) =>
  name ?? externalCorporateActionId ?? `Distribution ${corporateActionID}`

const [paid, offered] = [3, 2]

/** Whether units are allotted for the distribution after its payment. */
export const isReinvested = ({ drpIndicatorID }: Distribution) => drpIndicatorID === offered

/** Whether all stages of the distribution are done. */
export const isDone = (one: Distribution) =>
  (one.distributionStatusID ?? 0) > paid ||
  (one.distributionStatusID === paid && !isReinvested(one))
