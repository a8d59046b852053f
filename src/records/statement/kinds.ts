import { lookups } from '../../platform/lookup/lookups.ts'
import { distributionStatement } from './distribution.ts'
import type { Holding, StatementKind } from './kind.ts'
import { holdingStatement, transactionConfirmation } from './movements.ts'
import type { HolderRow } from './parts.ts'
import { annualTaxStatement } from './tax-year.ts'

const { ReportType } = lookups

/** Each kind is given back what it made itself: what is shared, and the data of its own select. */
type AnyKind = StatementKind<unknown, unknown>
const anyKind = <Shared, Data>(kind: StatementKind<Shared, Data>) => kind as AnyKind

/** The kinds of statement, by the id of the report. */
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
