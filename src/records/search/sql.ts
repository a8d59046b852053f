import sql, { join, raw } from 'sql-template-tag'
import { visibleEntity, visibleOrganisation, visiblePerson } from '../../parties/investor/scope.ts'
import { withoutSpaces } from '../../parties/person/schema.ts'
import type { Vault } from '../../parties/sealed/vault.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import type { Permission } from '../../platform/permission.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { type Answer, nothingFound, render } from '../../platform/sql/render.ts'
import { visible as visibleDocument } from '../document/find.ts'
import { folded } from './folded.ts'
import { phonesOf } from './phone.ts'
import { leastAsked, mostFound, type SearchQuery } from './schema.ts'

/**
 * A place where a search looks: a text of a table (an expression that has an index) and the record
 * it leads to. Only `mostRanked` rows of each lookup are ranked, so exact matches and prefixes are
 * looked up apart from matches anywhere in the text.
 */
type Source = {
  permission: Permission
  resource: string
  /** The id of the record that is found, as a column of `from`. */
  id: string
  from: string
  text: string
  /** The condition of a partial index; left out where the index covers all rows. */
  only?: string
  /** Whether the text is a name, which is also found when its accents are left out. */
  isName?: true
  visible: (actor: Actor) => Fragment
  /**
   * What a row of the ledger is shown as; the outer SQL statement does not join the ledger again.
   */
  shown?: { title: string; subtitle: string }
}

const mostRanked = 200
/** Matches that ignore accents rank below matches that have the accents as they were typed. */
const butForAccents = 0.05

const investors = {
  permission: 'BizEntity.Read',
  resource: 'BizEntity',
  visible: (actor) => visibleEntity(actor, 'b'),
} as const satisfies Partial<Source>
const persons = {
  permission: 'Person.Read',
  resource: 'Person',
  visible: (actor) => visiblePerson(actor, 'p.person_id'),
} as const satisfies Partial<Source>
const organisations = {
  permission: 'Organisation.Read',
  resource: 'Organisation',
  visible: (actor) => visibleOrganisation(actor, 'o.organisation_id'),
} as const satisfies Partial<Source>

const documents = {
  permission: 'Document.Read',
  resource: 'Document',
  id: 'd.document_id',
  from: 'document d',
  visible: visibleDocument,
} as const satisfies Partial<Source>

const personName = `lower(btrim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')))`
const organisationName = `lower(btrim(coalesce(o.name, '') || ' ' || coalesce(o.legal_name, '')))`
const contact = 'lower(c.name)'
const ofInvestor = 'communication c join biz_entity b on b.biz_entity_id = c.biz_entity_id'
const ofPerson = 'communication c join person p on p.person_id = c.person_id'
const ofOrganisation =
  'communication c join organisation o on o.organisation_id = c.organisation_id'

/** Texts that are found by any part of them. */
const partly: Source[] = [
  {
    ...investors,
    id: 'b.biz_entity_id',
    from: 'biz_entity b',
    text: 'lower(b.name)',
    isName: true,
  },
  {
    ...investors,
    id: 'b.biz_entity_id',
    from: 'account a join biz_entity b on b.biz_entity_id = a.biz_entity_id',
    text: 'lower(a.account_number)',
  },
  { ...investors, id: 'b.biz_entity_id', from: ofInvestor, text: contact },
  { ...persons, id: 'p.person_id', from: 'person p', text: personName, isName: true },
  { ...persons, id: 'p.person_id', from: ofPerson, text: contact },
  {
    ...organisations,
    id: 'o.organisation_id',
    from: 'organisation o',
    text: organisationName,
    isName: true,
  },
  { ...organisations, id: 'o.organisation_id', from: ofOrganisation, text: contact },
  { ...documents, text: 'lower(d.name)', isName: true },
]

const names = partly.filter(({ isName }) => isName)
/** Names compared without accents; only names with characters beyond ASCII are looked at. */
const bare: Source[] = names.map((source) => ({
  ...source,
  text: `folded(${source.text})`,
  only: `octet_length(${source.text}) > length(${source.text})`,
}))

/** External ids, found whole. */
const wholly: Source[] = [
  {
    ...investors,
    id: 'b.biz_entity_id',
    from: 'biz_entity b',
    text: 'b.external_biz_entity_id',
  },
  {
    ...investors,
    id: 'b.biz_entity_id',
    from: 'account a join biz_entity b on b.biz_entity_id = a.biz_entity_id',
    text: 'a.external_account_id',
  },
  { ...persons, id: 'p.person_id', from: 'person p', text: 'p.external_person_id' },
  {
    ...organisations,
    id: 'o.organisation_id',
    from: 'organisation o',
    text: 'o.external_organisation_id',
  },
  { ...documents, text: 'd.external_document_id' },
  {
    permission: 'BizTransaction.Read',
    resource: 'BizTransaction',
    id: 't.biz_transaction_id',
    from: 'biz_transaction t',
    text: 't.external_biz_transaction_id',
    visible: (actor) => inLedgerScope(actor, 't.product_id'),
    shown: { title: 't.external_biz_transaction_id', subtitle: 't.transaction_date' },
  },
  {
    permission: 'Distribution.Read',
    resource: 'Distribution',
    id: 'd.corporate_action_id',
    from: 'distribution d',
    text: 'd.external_corporate_action_id',
    visible: (actor) => inLedgerScope(actor, 'd.product_id'),
    shown: {
      title: 'coalesce(d.name, d.external_corporate_action_id)',
      subtitle: 'd.record_date',
    },
  },
]

const digits = `regexp_replace(c.name, '[^0-9]', '', 'g')`

/** Phones, found whole by their digits. */
const called: Source[] = [
  { ...investors, id: 'b.biz_entity_id', from: ofInvestor, text: digits },
  { ...persons, id: 'p.person_id', from: ofPerson, text: digits },
  { ...organisations, id: 'o.organisation_id', from: ofOrganisation, text: digits },
]

/** Tax file numbers, found whole by their digests. */
const taxed: Source[] = [
  { ...persons, id: 'p.person_id', from: 'person p', text: 'p.taxation_file_number_digest' },
  {
    ...organisations,
    id: 'o.organisation_id',
    from: 'organisation o',
    text: 'o.taxation_file_number_digest',
  },
]

/** The records that match a text and that the caller may read, best match first. */
export function search(
  handle: Sql,
  actor: Actor,
  vault: Vault,
  { Text }: SearchQuery,
): Promise<Answer> {
  const text = Text.toLowerCase()
  const plain = folded(text).trim()
  const spellings = plain.length < leastAsked ? [] : spellingsOf(plain)
  const mayRead = ({ permission }: Source) => actor.permissions.has(permission)
  const phones = phonesOf(Text)
  const hits = [
    ...partly.filter(mayRead).flatMap((source) => likeIn(source, actor, text)),
    ...spellings.flatMap((spelling) =>
      [...bare, ...(spelling === text ? [] : names)]
        .filter(mayRead)
        .flatMap((source) => likeIn(source, actor, spelling, butForAccents)),
    ),
    ...wholly.filter(mayRead).map((source) => equalIn(source, actor, [Text])),
    ...taxed.filter(mayRead).map((source) => equalIn(source, actor, taxDigests(vault, Text))),
    ...(phones.length > 0 ? called : [])
      .filter(mayRead)
      .map((source) => equalIn(source, actor, phones)),
  ]
  if (hits.length === 0) return Promise.resolve(nothingFound)
  return render(
    handle,
    sql`
      select f.resource, f.id, ${title} as title, ${subtitle} as subtitle, f.score
      from (
        select h.resource, h.id, max(h.score) as score, max(h.title) as title,
          max(h.subtitle) as subtitle
        from (${join(hits, ' union all ')}) h
        group by h.resource, h.id order by max(h.score) desc, h.resource, h.id
        limit ${mostFound}) f
      left join biz_entity b on f.resource = 'BizEntity' and b.biz_entity_id = f.id
      left join person p on f.resource = 'Person' and p.person_id = f.id
      left join organisation o on f.resource = 'Organisation' and o.organisation_id = f.id
      left join document w on f.resource = 'Document' and w.document_id = f.id
      order by f.score desc, f.resource, f.id`,
  )
}

/** A text with the apostrophe of a keyboard and with that of a text program: O'Brien, O’Brien. */
const spellingsOf = (plain: string) => [
  ...new Set([plain, ...["'", '’'].map((sign) => plain.replaceAll(/['’‘ʼ]/g, sign))]),
]

const title = raw(`coalesce(b.name,
  nullif(concat_ws(' ', p.first_name, p.last_name), ''), o.name, o.legal_name, f.title,
  w.name, w.file_name)`)

const subtitle = raw(`coalesce(
  (select string_agg(a.account_number, ', ' order by a.account_id) from (
    select * from account a where a.biz_entity_id = b.biz_entity_id
    order by a.account_id limit 3) a),
  p.external_person_id, o.external_organisation_id, f.subtitle, w.file_name)`)

const shownAs = ({ shown }: Source) =>
  raw(
    `(${shown?.title ?? 'null'})::text as title, (${shown?.subtitle ?? 'null'})::text as subtitle`,
  )

/** Escapes % and _, which are ordinary characters in a search text. */
const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/**
 * A text of two characters is looked up as a prefix only: it occurs in nearly every text, and a
 * trigram index cannot find it inside one.
 */
function likeIn(source: Source, actor: Actor, asked: string, less = 0): Fragment[] {
  const { resource, id, from } = source
  const column = raw(source.text)
  const begins = `${literal(asked)}%`
  const score = sql`case when ${column} like ${begins} then 0.9
    when ${column} like ${`% ${begins}`} then 0.8 else 0.6 end - ${less}::numeric`
  const like = (pattern: string) => sql`
    (select ${resource}::text as resource, ${raw(id)}::bigint as id, ${score} as score,
      ${shownAs(source)}
    from ${raw(from)} where ${column} like ${pattern} and ${wanted(source, actor)}
    limit ${mostRanked})`
  const inside = asked.length < 3 ? [] : [like(`%${begins}`)]
  return [equalIn(source, actor, [asked], less), like(begins), ...inside]
}

const equalIn = (source: Source, actor: Actor, asked: string[], less = 0) => sql`
  (select ${source.resource}::text as resource, ${raw(source.id)}::bigint as id,
    1 - ${less}::numeric as score, ${shownAs(source)}
  from ${raw(source.from)}
  where ${raw(source.text)} = any(${asked}::text[]) and ${wanted(source, actor)}
  limit ${mostFound})`

const wanted = ({ only = 'true', visible }: Source, actor: Actor) =>
  sql`${raw(only)} and ${visible(actor)}`

/** The digests under which a tax file number may be stored; none for any other text. */
function taxDigests(vault: Vault, asked: string): string[] {
  const number = withoutSpaces(asked)
  return typeof number === 'string' && /^\d{8,9}$/.test(number) ? vault.digests(number) : []
}
