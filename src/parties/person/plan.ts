import { inside } from '../../platform/shape/path.ts'
import { recordFrom } from '../../platform/sql/rows.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { type Owner, personReference } from '../investor/identities.ts'
import {
  groupLinked,
  type LinkedKind,
  type LinkedRecord,
  type Planning,
  planGroups,
  type Use,
} from '../investor/linked.ts'
import { type NestedList, planNested } from '../investor/nested.ts'
import { visiblePerson } from '../investor/scope.ts'
import { guarded } from './schema.ts'
import { personTable } from './sql.ts'

const personKind: LinkedKind = {
  kind: 'person',
  table: personTable,
  reference: personReference,
  visible: (actor) => visiblePerson(actor, 'r.person_id'),
  judge: (row, path) =>
    guarded(recordFrom(personTable, row)).map(({ field = '', code = 'invalid_value', words }) => {
      const at = inside(path, field)
      return { code, field: at, message: `${at} ${words}.` }
    }),
}

/**
 * Plans the persons that the places of a request bring or name; returns the person of each place.
 */
export async function planPersons(
  planning: Planning,
  uses: readonly Use[],
): Promise<Map<Use, LinkedRecord>> {
  const groups = await groupLinked(planning, personKind, uses)
  return planGroups(planning, personKind, groups)
}

type Nesting = { addresses?: object[]; communications?: object[] }

/**
 * Plans the addresses and communications of a request's records. Returns the owners whose own
 * fields or nested records change.
 */
export async function planOwned(
  planning: Planning,
  kind: Owner['kind'],
  records: Iterable<LinkedRecord>,
): Promise<Owner[]> {
  const { tx, actor, plan } = planning
  const told = [...new Set(records)].filter(({ given }) => given !== undefined)
  const lists = (name: keyof Nesting): NestedList[] =>
    told.map(({ id, isNew, given, path }) => ({
      owner: { kind, id },
      isNew,
      records: (given as Nesting)[name] ?? (planning.replaces ? [] : undefined),
      path: inside(path, name),
    }))
  const own = told.flatMap(({ id, changed }) => (changed ? [{ kind, id }] : []))
  return [
    ...own,
    ...(await planNested(tx, actor, addressKind, lists('addresses'), plan)),
    ...(await planNested(tx, actor, communicationKind, lists('communications'), plan)),
  ]
}
