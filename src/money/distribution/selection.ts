import { accountReference } from '../../parties/account/reference.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import { mostProblems } from '../../platform/shape/rules.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { locateAll } from '../../platform/sql/identify.ts'
import type { Selection } from './entitlement.ts'
import type { Declaration } from './schema.ts'
import type { Stored } from './sql.ts'

/** Finds the account ids of the three lists; refuses unknown accounts and clashing lists (400). */
export async function selectionOf(
  handle: Sql,
  { productID }: Stored,
  declaration: Declaration,
): Promise<Selection> {
  const { preCalculatedAccounts = [], includeAccounts = [], excludeAccounts = [] } = declaration
  const find = (list: object[], name: string) => findAccounts(handle, productID, list, name)
  const found = [
    await find(preCalculatedAccounts, 'preCalculatedAccounts'),
    await find(includeAccounts, 'includeAccounts'),
    await find(excludeAccounts, 'excludeAccounts'),
  ]
  const [listed, include, exclude] = found.map(({ ids }) => ids) as [number[], number[], number[]]
  const problems = [
    ...found.flatMap((one) => one.problems),
    ...clashes(listed, include, exclude),
  ].slice(0, mostProblems)
  refuseAll(400, problems)
  const preCalculated = listed.map((accountID, i) => ({
    accountID,
    amount: preCalculatedAccounts[i]!.amount,
  }))
  // An empty includeAccounts does not limit the accounts: some clients send it for no list.
  return { preCalculated, include: include.length > 0 ? include : undefined, exclude }
}

/** Refuses an amount for an account that the other lists exclude, because it must be a mistake. */
function clashes(listed: number[], include: number[], exclude: number[]): Problem[] {
  const [included, excluded] = [new Set(include), new Set(exclude)]
  const clash = (name: string, i: number, words: string): Problem => ({
    code: 'lists_clash',
    field: `${name}[${i}]`,
    message: `${name}[${i}] ${words}.`,
  })
  return [
    ...include.flatMap((id, i) =>
      id && excluded.has(id) ? [clash('includeAccounts', i, 'is in excludeAccounts too')] : [],
    ),
    ...listed.flatMap((id, i) => {
      if (!id) return []
      if (excluded.has(id)) return [clash('preCalculatedAccounts', i, 'is in excludeAccounts too')]
      return included.size > 0 && !included.has(id)
        ? [clash('preCalculatedAccounts', i, 'is not in includeAccounts')]
        : []
    }),
  ]
}

/** The account ids that a list names, 0 for an unknown account, and the problems of the list. */
async function findAccounts(handle: Sql, productID: number, list: object[], name: string) {
  const located = await locateAll(handle, accountReference, list, {
    productIDs: list.map(() => productID),
    path: (i) => `${name}[${i}]`,
  })
  const ids = located.map((one) => ('id' in one ? one.id : 0))
  const seen = new Set<number>()
  const problems = located.flatMap((one, i): Problem[] => {
    if ('problem' in one) return [one.problem]
    const field = `${name}[${i}]`
    if (seen.has(one.id))
      return [{ code: 'given_twice', field, message: `${field} is in the list already.` }]
    seen.add(one.id)
    return []
  })
  return { ids, problems }
}
