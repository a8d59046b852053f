import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import type { Answer, Shown } from '../../platform/sql/render.ts'

/** What was asked for: its changes, and whether it has been done. */
export type Asked = { changes: Fragment; isDone: Fragment }

/** What changes tell of others is hidden from who sees some products only. */
export type Veil = {
  /** Whether a request names somebody whom the caller cannot see: then all of it is hidden. */
  namesUnseen: (actor: Actor, asked: Asked) => Fragment
  /** Changes without what they tell, beside their own, of records that the caller cannot see. */
  over: <Page extends Shown>(handle: Sql, actor: Actor, page: Page) => Promise<Page | Answer>
}
