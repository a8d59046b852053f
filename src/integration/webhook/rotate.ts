import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import type { WebhookVault } from './vault.ts'

type Secrets = { id: number; secret: string; previousSecret: string | null }

/**
 * Seals the secrets of webhooks with the present key that are not yet, also those that were
 * replaced and still sign; tells how many, and of which webhooks one did not open.
 */
export async function sealSecretsAnew(tx: Tx, { seal, unseal, isCurrent }: WebhookVault) {
  const hooks = await tx.query<Secrets>(sql`
    select webhook_id as id, secret,
      case when previous_until > now() then previous_secret end as "previousSecret"
    from webhook order by webhook_id for update`)
  const failed = new Set<number>()
  let sealed = 0
  const renewed = (id: number, text: string | null) => {
    if (text === null || isCurrent(text)) return text
    try {
      const anew = seal(unseal(text))
      sealed++
      return anew
    } catch {
      failed.add(id)
      return text
    }
  }
  const rows = hooks.map(({ id, secret, previousSecret }) => ({
    id,
    secret: renewed(id, secret),
    previous: renewed(id, previousSecret),
  }))
  await tx.query(sql`
    update webhook w set secret = r.secret,
      previous_secret = coalesce(r.previous, w.previous_secret)
    from json_to_recordset(${JSON.stringify(rows)}) r (id int, secret text, previous text)
    where w.webhook_id = r.id`)
  return { sealed, failed: [...failed] }
}
