import type { Workload } from './measure.ts'
import { bareArrays, bareDeposits, bareEntities } from './work/against-bare.ts'
import { distributionStages } from './work/distribution.ts'
import { events } from './work/events.ts'
import { filteredLists, filteredPages } from './work/filters.ts'
import { flatInSize } from './work/flat.ts'
import { importedInvestors, imports } from './work/imports.ts'
import { bulkEntities, bulkPersons } from './work/investors.ts'
import { backDated, cold, disk, manyProducts } from './work/ledger-rows.ts'
import { memory } from './work/memory.ts'
import { deepPage, minimalEntityPage, minimalHoldingPage } from './work/page-rows.ts'
import { deposits } from './work/postings.ts'
import { closingFigures, entityPages, entityRead, pastHoldings } from './work/reads.ts'
import { seals } from './work/seals.ts'
import { search } from './work/search.ts'
import { statements } from './work/statements.ts'
import { withholding } from './work/withholding.ts'

/**
 * All workloads in the order in which they run. Comparisons with another register come before
 * anything else has changed this one, peak memory after the workloads it covers, and the filters of
 * every list last.
 */
export const workloads = new Map<string, Workload>([
  ['1', entityRead],
  ['2', entityPages],
  ['5', pastHoldings],
  ['6', closingFigures],
  ['7', flatInSize],
  ['16', search],
  ['S6a', minimalEntityPage],
  ['S6b', minimalHoldingPage],
  ['S7', filteredPages],
  ['S8', deepPage],
  ['S5', bareEntities],
  ['S1', bareDeposits],
  ['S4', bareArrays],
  ['S12', disk],
  ['S9', manyProducts],
  ['S10', backDated],
  ['S11', cold],
  ['3', deposits],
  ['11', imports],
  ['12', events],
  ['13', seals],
  ['4', distributionStages],
  ['14', withholding],
  ['15', statements],
  ['8', bulkPersons],
  ['8b', bulkEntities],
  ['11c', importedInvestors],
  ['9', memory],
  ['10', filteredLists],
])
