import { factorsSealedWith } from '../../access/second-factor/sql.ts'
import { userEndpoints } from '../../access/user/routes.ts'
import { tokensWith } from '../../access/user/token.ts'
import { investmentEndpoints } from '../../catalogue/investment/routes.ts'
import { productEndpoints } from '../../catalogue/product/routes.ts'
import type { Config } from '../../config.ts'
import { bizEventEndpoints } from '../../ledger/biz-event/routes.ts'
import { postingDoor } from '../../ledger/biz-transaction/door.ts'
import { bizTransactionEndpoints } from '../../ledger/biz-transaction/routes.ts'
import { restoreResiduals } from '../../money/distribution/residual.ts'
import { distributionEndpoints } from '../../money/distribution/routes.ts'
import { refuseClosing } from '../../money/distribution/under-way.ts'
import { leaveDrafts } from '../../money/payment-run/leave.ts'
import { paymentRunEndpoints } from '../../money/payment-run/routes.ts'
import { entityDoor } from '../../parties/biz-entity/door.ts'
import { bizEntityEndpoints } from '../../parties/biz-entity/routes.ts'
import { organisationTable } from '../../parties/organisation/sql.ts'
import { personTable } from '../../parties/person/sql.ts'
import { agreeOnKeys } from '../../parties/sealed/keys.ts'
import { vaultOf } from '../../parties/sealed/vault.ts'
import { openFiles } from '../../platform/files/open.ts'
import { readEncryptionKeys, readSecrets } from '../../platform/secrets.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { documentEndpoints } from '../../records/document/routes.ts'
import { type DemoUsers, hasData, makeDemo } from './demo.ts'
import { performer } from './perform.ts'

export const notEmpty = 'This registry has data already; a demonstration needs an empty one.'

/** Fills an empty registry; returns undefined if the registry is not empty. */
export async function openDemo(
  config: Config,
  database: Database,
  tell: (line: string) => void,
): Promise<DemoUsers | undefined> {
  if (await hasData(database)) return undefined
  const { tokenKey, nameKey, factorKey } = readSecrets(config)
  const vault = vaultOf(readEncryptionKeys(config))
  await agreeOnKeys(database, vault, [personTable, organisationTable], tell)
  const { files } = await openFiles(config, database.transaction)
  const { signal: stopping } = new AbortController()
  const perform = performer(database, [
    ...userEndpoints({
      database,
      tokens: tokensWith(tokenKey),
      nameKey,
      stopping,
      factors: factorsSealedWith(factorKey),
      requireSecondFactor: config.requireSecondFactor,
    }),
    ...productEndpoints({ timeZone: config.timeZone, refuseClosing }),
    ...investmentEndpoints,
    ...bizEntityEndpoints(vault, entityDoor(database, vault)),
    ...bizEventEndpoints,
    ...bizTransactionEndpoints(postingDoor(database), { leaveDrafts, restoreResiduals }),
    ...distributionEndpoints(config.stageInline),
    ...paymentRunEndpoints(database),
    ...documentEndpoints(database, files, nameKey),
  ])
  return makeDemo(perform, new Date().toISOString().slice(0, 10), tell)
}
