import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Permission } from '../../platform/permission.ts'
import { forbidden } from '../../platform/refusal.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { distributionSketch } from './distribution.ts'
import { rangesSketch, topHoldersSketch } from './holders.ts'
import { holdingsSketch } from './holdings.ts'
import { qualitySketch } from './quality.ts'
import { reconciliationSketch } from './reconciliation.ts'
import { registerSketch } from './register.ts'
import { statementSketch } from './statement.ts'
import type { Subject } from './subject.ts'
import type { Sketch } from './table.ts'
import { transactionsSketch } from './transactions.ts'
import { unclaimedSketch } from './unclaimed.ts'
import { unitsOnIssueSketch } from './units-on-issue.ts'
import { withholdingSketch } from './withholding.ts'

type Kind = {
  title: string
  /**
   * The permissions to read the records behind the rows; without all of them a user gets no report.
   */
  needs: readonly Permission[]
  /** Describes the rows as a table; a kind without it is made as letters only. */
  sketch?: (snapshot: Snapshot, subject: Subject) => Promise<Sketch>
  /** Whether the report shows names and addresses as they were on its date. */
  namesAsAt?: true
}

const { ReportType } = lookups

/** The kinds of report, by their id. */
export const kinds: Record<number, Kind> = {
  [ReportType['Register of members']]: {
    title: 'Register of members',
    needs: ['BizEntity.Read', 'Address.Read'],
    sketch: registerSketch,
    namesAsAt: true,
  },
  [ReportType.Holdings]: {
    title: 'Holdings',
    needs: ['BizEntity.Read'],
    sketch: holdingsSketch,
  },
  [ReportType.Transactions]: {
    title: 'Transactions',
    needs: ['BizTransaction.Read'],
    sketch: transactionsSketch,
  },
  [ReportType.Distribution]: {
    title: 'Distribution',
    needs: ['Distribution.Read'],
    sketch: distributionSketch,
  },
  [ReportType['Top holders']]: {
    title: 'Top holders',
    needs: ['BizEntity.Read'],
    sketch: topHoldersSketch,
  },
  [ReportType['Holding ranges']]: {
    title: 'Holding ranges',
    needs: ['BizEntity.Read'],
    sketch: rangesSketch,
  },
  [ReportType['Holding statement']]: {
    title: 'Holding statement',
    needs: ['BizEntity.Read', 'BizTransaction.Read'],
    sketch: statementSketch,
  },
  [ReportType['Distribution statement']]: {
    title: 'Distribution statement',
    needs: ['Distribution.Read', 'BizEntity.Read', 'Address.Read'],
  },
  [ReportType['Annual tax statement']]: {
    title: 'Annual tax statement',
    needs: ['Distribution.Read', 'BizEntity.Read', 'Address.Read'],
  },
  [ReportType['Transaction confirmation']]: {
    title: 'Transaction confirmation',
    needs: ['BizTransaction.Read', 'BizEntity.Read', 'Address.Read'],
  },
  [ReportType['Payment reconciliation']]: {
    title: 'Payment reconciliation',
    needs: ['Distribution.Read', 'PaymentRun.Read'],
    sketch: reconciliationSketch,
  },
  [ReportType['Unclaimed money']]: {
    title: 'Unclaimed money',
    needs: ['PaymentRun.Read', 'BizEntity.Read', 'Address.Read'],
    sketch: unclaimedSketch,
  },
  [ReportType['Withholding summary']]: {
    title: 'Withholding summary',
    needs: ['Distribution.Read', 'Tax.Read'],
    sketch: withholdingSketch,
  },
  [ReportType['Data quality']]: {
    title: 'Data quality',
    needs: ['BizEntity.Read', 'Person.Read', 'Organisation.Read', 'PaymentDetail.Read'],
    sketch: qualitySketch,
  },
  [ReportType['Units on issue']]: {
    title: 'Units on issue',
    needs: ['BizTransaction.Read'],
    sketch: unitsOnIssueSketch,
  },
}

/** Checked when a report is ordered, when it is made, and when its file is downloaded. */
export function checkMayRead(actor: Actor, reportTypeID: number) {
  const missing = kinds[reportTypeID]!.needs.find((needed) => !actor.permissions.has(needed))
  if (missing) throw forbidden('permission_missing', `This report needs the permission ${missing}.`)
}
