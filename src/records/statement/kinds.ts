import { lookups } from '../../platform/lookup/lookups.ts'
import { distributionStatement } from './distribution.ts'
import type { Holding, StatementKind } from './kind.ts'
import { holdingStatement, transactionConfirmation } from './movements.ts'
import type { HolderRow } from './parts.ts'
import { annualTaxStatement } from './tax-year.ts'

const { ReportType } = lookups

/**
 * The types are erased here: each kind only receives shared data and account data it made itself.
 */
type AnyKind = StatementKind<unknown, unknown>
const anyKind = <Shared, Data>(kind: StatementKind<Shared, Data>) => kind as AnyKind

/** The kinds of investor statement, by report type id. */
export const statementKinds: Readonly<Record<number, AnyKind>> = {
  [ReportType['Holding statement']]: anyKind(holdingStatement),
  [ReportType['Distribution statement']]: anyKind(distributionStatement),
  [ReportType['Annual tax statement']]: anyKind(annualTaxStatement),
  [ReportType['Transaction confirmation']]: anyKind(transactionConfirmation),
}

export const letterOf = (kindID: number, shared: unknown, row: HolderRow) => {
  const holding: Holding<unknown> = {
    accountNumber: row.accountNumber,
    addressee: JSON.parse(row.addressee) as string[],
    data: JSON.parse(row.data),
  }
  return statementKinds[kindID]!.letter(shared, holding)
}
