import {
  arrayOf,
  type Endpoint,
  nothing,
  reading,
  sharing,
  writing,
} from '../../platform/http/endpoint.ts'
import { bizEntityParameter } from '../investor/identities.ts'
import type { Vault } from '../sealed/vault.ts'
import { deleteEntity } from './delete.ts'
import type { EntityDoor } from './door.ts'
import { EntityChange, HistoryQuery, readHistory } from './history.ts'
import { createParent, deleteParent, readParents, updateParent } from './parent.ts'
import { BizEntityParent, ParentInput, ParentKey, ParentQuery } from './parent-schema.ts'
import { readEntities } from './read.ts'
import { createEntities, replaceEntity } from './save.ts'
import {
  BizEntity,
  BizEntityInputs,
  BizEntityKey,
  BizEntityQuery,
  BizEntityUpdate,
} from './schema.ts'

export const bizEntityEndpoints = (vault: Vault, door: EntityDoor): Endpoint[] => [
  reading({
    operation: 'GET /BizEntity',
    access: 'BizEntity.Read',
    summary: 'List entities with all their nested records.',
    query: BizEntityQuery,
    data: arrayOf(BizEntity),
    etag: { by: bizEntityParameter.fields, without: ['balance', 'balances'] },
    read: ({ query, actor }, handle) => readEntities(handle, actor, query),
  }),
  reading({
    operation: 'GET /BizEntity/History',
    name: 'listEntityHistory',
    access: 'BizEntity.Read',
    summary:
      'List every change of an entity and the records that belong to it: who made it, when, and ' +
      'the values before and after.',
    query: HistoryQuery,
    data: arrayOf(EntityChange),
    read: ({ query, actor }, handle) => readHistory(handle, actor, query),
  }),
  sharing({
    operation: 'POST /BizEntity',
    access: 'BizEntity.Write',
    summary: 'Create entities with their accounts, parties and other nested records, in one step.',
    description:
      'A party refers to an existing person or organisation by id, or contains a nested one. If ' +
      'the nested person or organisation has an external id that is already known, that record ' +
      'is updated with the given fields; otherwise a new one is created.',
    resource: 'BizEntity',
    body: BizEntityInputs,
    data: arrayOf(BizEntity),
    through: door,
    alone: ({ body, pathOf, actor }, tx) => createEntities(tx, actor, vault, body, pathOf),
  }),
  writing({
    operation: 'PUT /BizEntity',
    access: 'BizEntity.Write',
    summary: 'Replace an entity and its nested records.',
    description:
      'Nested records with an id that belongs to this entity are changed, records without an id ' +
      'are created, and records that are left out are removed. An account with transactions or ' +
      'notices cannot be left out.',
    resource: 'BizEntity',
    body: BizEntityUpdate,
    data: arrayOf(BizEntity),
    write: ({ body, actor }, tx) => replaceEntity(tx, actor, vault, body),
  }),
  writing({
    operation: 'DELETE /BizEntity',
    access: 'BizEntity.Write',
    summary: 'Delete an entity that has no history. Its persons and organisations are kept.',
    resource: 'BizEntity',
    query: BizEntityKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteEntity(tx, actor, query),
  }),
  ...parentEndpoints,
]

const parentEndpoints: Endpoint[] = [
  reading({
    operation: 'GET /BizEntity/Parent',
    access: 'BizEntity.Read',
    summary: 'List parent links: those of a child, those of a parent, or all.',
    query: ParentQuery,
    data: arrayOf(BizEntityParent),
    read: ({ query, actor }, handle) => readParents(handle, actor, query),
  }),
  writing({
    operation: 'POST /BizEntity/Parent',
    access: 'BizEntity.Write',
    summary: 'Link an entity to a parent for a period.',
    resource: 'BizEntity',
    body: ParentInput,
    data: arrayOf(BizEntityParent),
    write: ({ body, actor }, tx) => createParent(tx, actor, body),
  }),
  writing({
    operation: 'PUT /BizEntity/Parent',
    access: 'BizEntity.Write',
    summary: 'Change the dealer group or the end date of a parent link.',
    resource: 'BizEntity',
    body: ParentInput,
    data: arrayOf(BizEntityParent),
    write: ({ body, actor }, tx) => updateParent(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /BizEntity/Parent',
    access: 'BizEntity.Write',
    summary: 'Delete a parent link, identified by child, parent and ActiveFrom.',
    resource: 'BizEntity',
    query: ParentKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteParent(tx, actor, query),
  }),
]
