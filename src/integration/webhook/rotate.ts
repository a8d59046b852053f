import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import type { WebhookVault } from './vault.ts'

type Secrets = { id: number; secret: string; previousSecret: string | null }

/**
 * Reseals webhook secrets that are not sealed with the current key, including replaced secrets that
 * still sign. Returns how many it sealed, and the webhooks with a secret that could not be opened.
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
