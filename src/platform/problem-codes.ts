/**
 * Every code that a refusal can have, with its meaning. Programs rely on codes, so a code never
 * changes. The OpenAPI document lists them by operation, and docs/error-codes.md explains them. A
 * refusal whose code has no line here does not compile (Code, below).
 */
type Words = Readonly<Record<string, string>>

/** Problems with the request as it was written. */
const malformed = {
  combination: 'Fields contradict each other.',
  unknown_lookup: 'An id is not one of the lookup that its field takes.',
  no_price: 'There is no price to work with; give one.',
  same_account: 'Two accounts that must differ are one.',
  cycle: 'The link would lead back to where it begins.',
  wrong_event: 'The notice is of another kind.',
  version: 'The header Version is missing or names another version than 2.0.',
  bad_request: 'This is not a request that the service understands.',
  bad_url: 'The path is not a valid URL.',
  unknown_parameter: 'The query has a parameter that the operation does not know.',
  required: 'A field or parameter is missing.',
  malformed_json: 'The body is not JSON, or JSON that could be read in two ways.',
  wrong_type: 'A value is of another type than its field.',
  invalid_value: 'A value is not one that its field takes.',
  invalid_date: 'A text is not a date of the calendar.',
  invalid_decimal: 'A value is not a decimal number that its field takes.',
  out_of_range: 'A number is below or above what its field takes.',
  too_small: 'A number is below what its field takes.',
  too_long: 'A text is longer than its field takes.',
  too_many: 'A list has more items than it may.',
  given_twice: 'The same thing is given twice.',
} as const satisfies Words

/** Problems with a body. */
const badBody = {
  malformed_form: 'The form cannot be read.',
  immutable: 'The field cannot be changed any more.',
  other_product: 'Two records that must belong to one product do not.',
  other_currency: 'Two records that must have one currency do not.',
  belongs_to_another: 'A nested record is one of another owner.',
  masked_value: 'A masked number was sent back where only the whole one will do.',
} as const satisfies Words

/** Problems with the parameters of paging. */
const pages = {
  page_size_exceeded: 'PageSize is larger than the registry allows.',
  invalid_cursor: 'Cursor is not one that this list has given out.',
} as const satisfies Words

/** Conflicts with the stored data. */
const conflicts = {
  in_progress: 'Something on it is under way; wait for it to end.',
  in_payment_run: 'A payment run pays it already.',
  wrong_event: 'The notice is of another kind.',
  no_price: 'There is no price to work with.',
  price_too_old: 'The price is older than the investment allows; confirm lets it pass.',
  conflict: 'Another request was in the way; send it again.',
  duplicate: 'Another record has this id or name already.',
  in_use: 'Other records refer to this one.',
  period_locked: 'The day lies in a period that is closed.',
  product_inactive: 'The product takes no new money.',
  account_closed: 'The account is closed.',
  account_suspended: 'The account is suspended: nothing leaves it.',
  no_income_kind: 'A tax component has no kind of income, by which tax would be withheld.',
  no_withholding_rate: 'There is no rate of withholding tax for a kind of income on the day.',
  overlap: 'Another rate holds for the same at that time.',
  key_missing: 'Something is sealed with a key that the process does not have.',
  has_units: 'The account holds units.',
  wrong_state: 'The record is not in the state that the operation needs.',
} as const satisfies Words

type OwnWords = { 400?: Words; 403?: Words; 404?: Words; 409?: Words }

const cannotWait = {
  approval_needed: 'A rule lets this wait for approval, and an import or file cannot wait.',
}

/** Codes of single resources, by the first part of their path. */
const byResource = {
  BizEntity: {
    400: { own_parent: 'An entity cannot be its own parent.' },
    409: {
      cycle: 'An entity would be above itself.',
      has_transactions: 'An account has transactions.',
      has_entitlements: 'An account is or was entitled to a distribution.',
      has_events: 'An account has pending notices.',
      corporate_trustee: 'The organisation is a corporate trustee.',
    },
  },
  Person: { 409: { has_transactions: 'The person is a party of an entity with transactions.' } },
  Organisation: {
    409: {
      has_transactions: 'The organisation is a party of an entity with transactions.',
      licence_active: 'The licence of the organisation is in force.',
      corporate_trustee: 'The organisation is a corporate trustee.',
    },
  },
  Address: { 400: { more_than_one_owner: 'An address has one owner.' } },
  Communication: {
    400: { more_than_one_owner: 'A communication has one owner.' },
    409: { duplicate_email: 'Another investor has this email address.' },
  },
  Investment: {
    409: {
      has_transactions: 'The investment has transactions.',
      price_tolerance: 'The price is far from the one before; confirm it if it is right.',
    },
  },
  BizEvent: {
    409: {
      insufficient_holding: 'The account has not as many units.',
      units_on_hold: 'The units are held back.',
      event_not_pending: 'The notice is completed or cancelled already.',
      investment_inactive: 'The investment takes no new money.',
    },
  },
  BizTransaction: {
    400: { same_investment: 'Units are converted into another investment.' },
    409: {
      other_notice: 'The notice is of another account or investment.',
      insufficient_holding: 'The account has not as many units.',
      units_on_hold: 'The units are held back.',
      rolled_back: 'The transaction is rolled back already.',
      from_distribution: 'The transaction belongs to a distribution.',
      event_not_pending: 'The notice is completed or cancelled already.',
      investment_inactive: 'The investment takes no new money.',
      has_events: 'A notice refers to it.',
    },
  },
  Distribution: {
    400: {
      not_found: 'A record that the body names is not there.',
      tax_components: 'The tax components do not make up the whole.',
      too_much: 'The amounts given are more than there is to share.',
      lists_clash: 'An account is in lists that exclude each other.',
    },
    409: {
      tax_components: 'A tax component is there twice, and the product withholds tax.',
      incomplete: 'The distribution lacks what the stage needs.',
      nobody_to_share: 'Nobody holds any units on the record date.',
      no_unit_value: 'There is no value of a unit on a day that counts.',
      nobody_entitled: 'Nobody is entitled to anything.',
      second_distribution: 'There is one for the same record date; confirmSecond lets it pass.',
      too_early: 'The day for it has not come yet.',
      residual_carried: 'What was left over has gone into a later distribution.',
      later_allotment: 'A later reinvestment of the investment is done already.',
      residual_used: 'What was left over has been used since.',
      units_gone: 'Units that it allotted have left their accounts since.',
      wrong_stage: 'The distribution is at another stage.',
      has_stages: 'The distribution has been through a stage.',
      record_date: 'The record date has not passed yet.',
      drp_not_offered: 'The distribution offers no reinvestment.',
      no_drp_price: 'There is no price to reinvest at.',
      investment_inactive: 'The investment takes no new money.',
    },
  },
  Document: {
    400: {
      ambiguous: 'Several documents have this id; name the product.',
    },
    403: {
      password_required: 'The document asks for a password.',
      password_wrong: 'The password of the document is another.',
    },
    404: { no_file: 'The document has no file yet.' },
    409: { ...cannotWait, has_file: 'The document has a file already.' },
  },
  Report: {
    400: { invalid_period: 'The period ends before it begins.' },
    403: { scope: 'Who ordered the report may not have it any more.' },
    409: {
      nothing_to_state: 'No account has anything that the statement could tell.',
      outdated: 'What the statements tell of was taken back since they were made.',
      not_sendable: 'The report is not statements that can be sent.',
      no_smtp: 'No mail server is set.',
      no_sender: 'There is no address to send from.',
      already_sent: 'Every statement was sent already.',
      not_declared: 'The distribution is not declared yet.',
      not_complete: 'The report is not made yet.',
      in_progress: 'The report is being made.',
      report_failed: 'The report could not be made.',
      gave_up: 'The report could not be made in several attempts.',
    },
  },
  Import: {
    409: {
      ...cannotWait,
      same_file: 'The file was imported before; again takes it once more.',
      not_complete: 'The import is not done yet.',
      no_errors: 'No row was refused.',
      no_file: 'The document has no file yet.',
      password_required: 'The document asks for a password.',
      gave_up: 'The import failed in several attempts.',
      has_holding: 'The account has transactions in the investment already.',
    },
    400: {
      bad_file: 'The file is not of its format, or lacks what its type needs.',
      wrong_columns: 'A row has more cells than the head.',
      not_of_operation: 'A row has a value that its operation does not take.',
    },
  },
  User: {
    403: { beyond_own_rights: 'Nobody gives others more rights than their own.' },
    409: {
      last_administrator: 'The registry would be left without an administrator.',
      nothing_to_confirm: 'No second factor waits to be confirmed.',
      second_factor_present: 'There is a second factor already.',
    },
  },
  ApiKey: { 403: { beyond_own_rights: 'Nobody gives others more rights than their own.' } },
  Approval: {
    403: {
      own_request: 'Nobody approves what they asked for themselves.',
      not_own_request: 'Only who asked for it cancels it.',
    },
    409: {
      approval_expired: 'The request has waited too long.',
      decided_already: 'The caller has decided already.',
      maker_may_not: 'Who asked for it may not do it any more.',
      unknown_operation: 'The operation that waits is not known any more.',
    },
  },
  PaymentRun: {
    403: { own_run: 'A run is approved by another person than its maker.' },
    409: {
      nothing_to_pay: 'There is nothing to pay that is not in a run.',
      nothing_returned: 'No payment of the run was returned then.',
    },
  },
} as const satisfies Record<string, OwnWords>

/** Codes that any operation may answer with, by status. */
const everywhere = {
  401: {
    unauthenticated: 'There is no token; sign in first.',
    token_invalid: 'The token is not valid.',
    session_ended: 'The session has ended; sign in again.',
    code_required: 'Signing in needs the code of the second factor too.',
    code_wrong: 'The code is wrong, or was used before.',
    key_refused: 'The API key is not valid here, or not any more.',
    sign_in_failed: 'The user name or the password is wrong.',
    refresh_refused: 'The refresh token was used before, or has run out.',
  },
  403: {
    people_only: 'An API key cannot do this; sign in with a password.',
    second_factor_required: 'The user must enrol a second factor first.',
    all_products_needed: 'It concerns all products, and so must the rights of the user.',
    permission_missing: 'The user lacks the permission that the operation needs.',
    metrics: 'The metrics are for this machine, or for who holds their token.',
    scope: 'It concerns products that the user does not see.',
  },
  404: {
    not_found: 'There is no such record, or none that the user sees.',
    no_such_path: 'There is nothing at this path.',
  },
  405: { wrong_method: 'The path takes other methods.' },
  408: { timeout: 'The request did not arrive in time.' },
  410: { cursor_expired: 'The events after the cursor are not kept any more.' },
  412: { changed_meanwhile: 'The record has changed since it was read.' },
  413: {
    body_too_large: 'The body is larger than it may be.',
    file_too_large: 'The file is larger than it may be.',
  },
  415: {
    not_json: 'The body must be JSON.',
    encoded: 'The body has a Content-Encoding.',
    file_type: 'The file is not of a type that is taken.',
  },
  422: {
    idempotency_key_reused:
      'The Idempotency-Key was used for another request, or through another API key.',
  },
  429: {
    rate_limit: 'Too many requests in this minute.',
    too_many_failures: 'Too many failed attempts to sign in.',
  },
  431: { headers_too_large: 'The headers are larger than they may be.' },
  500: { internal: 'A fault of ours; nothing was written.' },
  503: {
    busy: 'Something that it needs is busy; try again shortly.',
    stopping: 'The node is stopping; try again.',
    database_unavailable: 'The database does not answer.',
    outcome_unknown: 'The connection was lost at the last moment: the request may have been done.',
    storage_unavailable: 'The file storage does not answer.',
    no_room: 'The database has no room for more.',
    storage_full: 'There is no room to store it.',
  },
} as const satisfies Record<number, Words>

/** Codes used between parts of the service, which never reach a caller. */
type Inside = 'lease_lost' | 'finished_elsewhere'

type Own<Status extends keyof OwnWords> = {
  [R in keyof typeof byResource]: (typeof byResource)[R] extends Record<Status, infer W>
    ? keyof W
    : never
}[keyof typeof byResource]
type Everywhere<Status extends keyof typeof everywhere> = keyof (typeof everywhere)[Status]

/** The codes of a status: a refusal with a code that is not in the lists above does not compile. */
export type CodeOf = {
  400: keyof typeof malformed | keyof typeof badBody | keyof typeof pages | Own<400>
  401: Everywhere<401>
  403: Everywhere<403> | Own<403>
  404: Everywhere<404> | Own<404>
  409: keyof typeof conflicts | Own<409> | Inside
  429: Everywhere<429>
  503: Everywhere<503>
}
export type Code =
  | CodeOf[keyof CodeOf]
  | { [Status in keyof typeof everywhere]: Everywhere<Status> }[keyof typeof everywhere]

/** The codes that an operation can be refused with. */
export type Codes = {
  of(status: number): string[]
  /** Whether all operations have the same codes under this status. */
  areShared(status: number): boolean
}

/** Resources whose operations write each other's records, and so refuse with each other's codes. */
const families = [
  ['BizEntity', 'Person', 'Organisation', 'Address', 'Communication', 'PaymentDetail'],
  ['BizEvent', 'BizTransaction'],
  ['Distribution', 'PaymentRun'],
]

function ownOf(resource: string): OwnWords {
  const family = families.find((names) => names.includes(resource)) ?? [resource]
  const all: Record<string, OwnWords> = byResource
  const merged = (status: keyof OwnWords): Words =>
    Object.assign({}, ...family.map((name) => all[name]?.[status]))
  return { 400: merged(400), 403: merged(403), 404: merged(404), 409: merged(409) }
}

export function codesOf(operation: string, takes: { body: boolean; pages: boolean }): Codes {
  const [, path = ''] = operation.split(' ')
  const own = path === '/Approval/Approve' ? ofAny() : ownOf(path.split('/')[1] ?? '')
  const special: Record<number, Words | undefined> = {
    400: { ...malformed, ...(takes.body && badBody), ...(takes.pages && pages), ...own[400] },
    403: { ...everywhere[403], ...own[403] },
    404: { ...everywhere[404], ...own[404] },
    409: { ...conflicts, ...own[409] },
  }
  const shared: Record<number, Words> = everywhere
  return {
    of: (status) => Object.keys(special[status] ?? shared[status] ?? {}),
    areShared: (status) => !special[status],
  }
}

/**
 * The codes of all resources: an approval runs the waiting operation, so it can be refused with any
 * of that operation's codes.
 */
function ofAny(): OwnWords {
  const merged = (status: keyof OwnWords): Words =>
    Object.assign({}, ...Object.values<OwnWords>(byResource).map((own) => own[status]))
  return { 400: merged(400), 403: merged(403), 404: merged(404), 409: merged(409) }
}

/** The codes by status that all operations share, unless an operation adds codes of its own. */
export const sharedCodes: [number, string[]][] = Object.entries(everywhere).map(
  ([status, codes]) => [Number(status), Object.keys(codes)],
)

const lists: [number, Words][] = [
  [400, malformed],
  [400, badBody],
  [400, pages],
  [409, conflicts],
  ...[everywhere, ...Object.values(byResource)].flatMap((own) =>
    Object.entries<Words>(own).map(([status, words]): [number, Words] => [Number(status), words]),
  ),
]

/** Every code, with the statuses that it comes with and its meanings. */
export const problemCodes: ReadonlyMap<string, { statuses: number[]; meanings: string[] }> =
  new Map(
    [...new Set(lists.flatMap(([, words]) => Object.keys(words)))].sort().map((code) => {
      const own = lists.filter(([, words]) => code in words)
      const statuses = own.map(([status]) => status).sort()
      const meanings = own.map(([, words]) => words[code]!)
      return [code, { statuses: [...new Set(statuses)], meanings: [...new Set(meanings)] }]
    }),
  )
