import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import type { Answer, Shown } from '../../platform/sql/render.ts'

/** A request: its changes, and whether it has been carried out. */
export type Asked = { changes: Fragment; isDone: Fragment }

/**
 * Hides what changes reveal about records outside the products of a caller who sees some products
 * only.
 */
export type Veil = {
  /**
   * Whether a request names somebody whom the caller cannot see: then the whole request is hidden.
   */
  namesUnseen: (actor: Actor, asked: Asked) => Fragment
  /**
   * Removes from a page of changes what they reveal, beside their own record, about records that
   * the caller cannot see.
   */
  over: <Page extends Shown>(handle: Sql, actor: Actor, page: Page) => Promise<Page | Answer>
}
