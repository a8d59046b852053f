import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { DateOnly, ExternalId, Id, nullable, optional } from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { bizEntityFields } from '../investor/identities.ts'

const fields = {
  parentBizEntityID: optional(Id),
  parentExternalBizEntityId: optional(ExternalId),
  dealerGroupBizEntityID: optional(Id),
  externalDealerGroupBizEntityId: optional(ExternalId),
  activeFrom: DateOnly,
  activeTo: optional(DateOnly),
}

/** Refuses an activeTo before activeFrom. Dates written as texts compare like dates. */
const inOrder: Check = (value) => {
  const { activeFrom, activeTo } = (value ?? {}) as { activeFrom?: string; activeTo?: string }
  return activeFrom && activeTo && activeTo < activeFrom
    ? [{ field: 'activeTo', words: 'is before activeFrom' }]
    : []
}

/** A parent link inside the child's record. */
export const NestedParent = Type.Object(fields, { $id: 'NestedParent', check: inOrder })
export const ParentInput = Type.Object(
  { ...bizEntityFields, ...fields },
  {
    $id: 'BizEntityParentInput',
    check: inOrder,
    example: { bizEntityID: 2, parentBizEntityID: 1, activeFrom: '2026-07-01' },
  },
)
const { activeFrom, ...others } = { ...bizEntityFields, ...fields }
export const BizEntityParent = Type.Object(
  {
    ...Object.fromEntries(Object.entries(others).map(([name, field]) => [name, nullable(field)])),
    activeFrom,
    activeTo: nullable(DateOnly),
  },
  { $id: 'BizEntityParent' },
)

const key = {
  BizEntityID: optional(Id),
  ExternalBizEntityId: optional(ExternalId),
  ParentBizEntityID: optional(Id),
  ParentExternalBizEntityId: optional(ExternalId),
}
/** The key of a link: its child, its parent and its first day. */
export const ParentKey = Type.Object({ ...key, ActiveFrom: DateOnly })
export const ParentQuery = Type.Object({ ...key, ...paging })

export type NestedParent = Static<typeof NestedParent>
export type ParentInput = Static<typeof ParentInput>
export type ParentKey = Static<typeof ParentKey>
export type ParentQuery = Static<typeof ParentQuery>
