/**
 * Every code that a refusal can have, with its meaning. Programs rely on codes, so a code never
 * changes. The OpenAPI document lists the codes by operation, and docs/error-codes.md shows their
 * meanings. A refusal whose code has no line here does not compile (Code, below).
 */
type Words = Readonly<Record<string, string>>

/** Problems with the request as it was written. */
const malformed = {
  combination: 'The request gives fields that cannot be used together.',
  unknown_lookup: 'An id does not exist in the lookup category of its field.',
  no_price: 'There is no price for the day, and the request gives none.',
  same_account: 'Both sides of a transfer name the same account.',
  cycle: 'The parent links would form a circle.',
  wrong_event: 'The operation cannot complete a notice of this type.',
  version: 'The Version header is missing or is not 2.0.',
  bad_request: 'The service cannot read the request.',
  bad_url: 'The path is not a valid URL.',
  unknown_parameter: 'The operation has no query parameter of this name.',
  required: 'A required field or parameter is missing.',
  malformed_json: 'The body is not valid JSON, or it can be read in two ways.',
  wrong_type: 'A value does not have the type of its field.',
  invalid_value: 'The field does not accept this value.',
  invalid_date: 'A text is not a valid date.',
  invalid_decimal: 'A value is not a decimal number, or is outside the range of its field.',
  out_of_range: 'A number or date is outside the range of its field.',
  too_small: 'The amount comes to no units at all after rounding.',
  too_long: 'A text is longer than allowed, or a report is too long for a PDF.',
  too_many: 'A list has more items than allowed.',
  given_twice: 'The same thing is given twice.',
} as const satisfies Words

/** Problems with a body. */
const badBody = {
  malformed_form: 'The multipart form is incomplete or not valid.',
  immutable: 'The field cannot be changed after the record was created.',
  other_product: 'The records named belong to different products.',
  other_currency: 'The records named have different currencies.',
  belongs_to_another: 'A nested record belongs to another owner.',
  masked_value: 'A number was sent in its masked form; send the whole number.',
} as const satisfies Words

/** Problems with the parameters of paging. */
const pages = {
  page_size_exceeded: 'PageSize is larger than this registry allows.',
  invalid_cursor: 'Cursor was not given out by this list.',
} as const satisfies Words

/** Conflicts with the stored data. */
const conflicts = {
  in_progress: 'Other work on the record has not finished yet; try again when it has.',
  in_payment_run: 'A payment run already pays the distribution or transaction.',
  wrong_event: 'The operation cannot complete a notice of this type.',
  no_price: 'There is no price for the day.',
  price_too_old: 'The price is older than the investment allows; send confirm to use it.',
  conflict: 'Another request changed the same data at that moment; send the request again.',
  duplicate: 'Another record already has this value.',
  in_use: 'Other records refer to this one.',
  period_locked: 'The date lies in a locked period of the product.',
  product_inactive: 'The product is inactive: it accepts no new money and no new distributions.',
  account_closed: 'The account is closed.',
  account_suspended: 'The account is suspended: no units or money can leave it.',
  no_income_kind: 'A tax component has no kind of income, so the tax to withhold is unknown.',
  no_withholding_rate: 'There is no withholding tax rate for a kind of income on that day.',
  overlap: 'Another rate for the same income and country is valid at that time.',
  key_missing: 'A value or file is encrypted with a key that the service does not have.',
  has_units: 'The account holds units.',
  wrong_state: 'The record is not in a state that allows the operation.',
} as const satisfies Words

type OwnWords = { 400?: Words; 403?: Words; 404?: Words; 409?: Words }

const cannotWait = {
  approval_needed: 'An approval rule applies, but imports and uploads cannot wait for approval.',
}

/** Codes of single resources, by the first part of their path. */
const byResource = {
  BizEntity: {
    400: { own_parent: 'An entity cannot be its own parent.' },
    409: {
      cycle: 'The parent links would form a circle.',
      has_transactions: 'An account of the entity has transactions.',
      has_entitlements: 'An account of the entity is or was entitled to a distribution.',
      has_events: 'An account of the entity has notices.',
      corporate_trustee: 'The organisation is a corporate trustee.',
    },
  },
  Person: { 409: { has_transactions: 'The person is a party of an entity with transactions.' } },
  Organisation: {
    409: {
      has_transactions: 'The organisation is a party of an entity with transactions.',
      licence_active: 'The organisation has an active licence.',
      corporate_trustee: 'The organisation is a corporate trustee.',
    },
  },
  Address: {
    400: { more_than_one_owner: 'The request names several owners; an address has one.' },
  },
  Communication: {
    400: { more_than_one_owner: 'The request names several owners; a communication has one.' },
    409: { duplicate_email: 'Another record already has this email address.' },
  },
  Investment: {
    409: {
      has_transactions: 'The investment has transactions.',
      price_tolerance:
        'The price differs too much from the previous one; send confirm if it is right.',
    },
  },
  BizEvent: {
    409: {
      insufficient_holding: 'The account does not hold enough units.',
      units_on_hold: 'Too many of the units are on hold.',
      event_not_pending: 'The notice is already completed or cancelled.',
      investment_inactive: 'The investment is inactive: it accepts no new money.',
    },
  },
  BizTransaction: {
    400: { same_investment: 'Both sides of a conversion name the same investment.' },
    409: {
      other_notice: 'The notice is for another account or investment.',
      insufficient_holding: 'The account does not hold enough units.',
      units_on_hold: 'Too many of the units are on hold.',
      rolled_back: 'The transaction is already rolled back.',
      from_distribution: 'The transaction was made by a distribution and changes only with it.',
      event_not_pending: 'The notice is already completed or cancelled.',
      investment_inactive: 'The investment is inactive: it accepts no new money.',
      has_events: 'A notice refers to the transaction.',
    },
  },
  Distribution: {
    400: {
      not_found: 'The body names a record that does not exist.',
      tax_components: 'The tax components do not total 100 percent.',
      too_much: 'The pre-calculated amounts come to more than the total.',
      lists_clash: 'An account is in two lists that exclude each other.',
    },
    409: {
      tax_components: 'A tax component is given twice, and the product withholds tax.',
      incomplete: 'The distribution lacks fields that the stage needs.',
      nobody_to_share: 'No account holds units that could share in the total.',
      no_unit_value: 'The value of a unit is not known for every day of the period.',
      nobody_entitled: 'No account is entitled to the distribution.',
      second_distribution:
        'The investment has another distribution of this record date; send confirmSecond if both ' +
        'are meant.',
      too_early: 'The stage cannot run before its date.',
      residual_carried: 'The investment carries residuals forward and pays none out.',
      later_allotment: 'A later distribution of the investment has been reinvested already.',
      residual_used: 'The residual of an account has been reinvested or paid out since.',
      units_gone: 'Units that the distribution allotted have left their accounts since.',
      wrong_stage: 'The distribution is at a stage that does not allow the operation.',
      has_stages: 'The distribution has been through a stage and is kept as history.',
      record_date: 'The record date has not passed yet.',
      drp_not_offered: 'The distribution offers no reinvestment.',
      no_drp_price: 'There is no price for the reinvestment.',
      investment_inactive: 'The investment is inactive: it accepts no new money.',
    },
  },
  Document: {
    400: {
      ambiguous: 'Several documents have this external id; give the product as well.',
    },
    403: {
      password_required: 'The document has a password; send it with the request.',
      password_wrong: 'The password of the document is wrong.',
    },
    404: { no_file: 'The document has no file yet.' },
    409: { ...cannotWait, has_file: 'The document already has a file.' },
  },
  Report: {
    400: { invalid_period: 'The period ends before it begins.' },
    403: { scope: 'The user who ordered the report no longer has the rights for it.' },
    409: {
      nothing_to_state: 'No account has anything to report in such a statement.',
      outdated: 'What the statements report has been reversed since they were made.',
      not_sendable: 'The report does not consist of statements that can be sent.',
      no_smtp: 'No mail server is configured.',
      no_sender: 'No sender address is configured.',
      already_sent: 'All statements have been sent already.',
      not_declared: 'The distribution is not declared yet.',
      not_complete: 'The report is not finished yet.',
      in_progress: 'A stage of the distribution is under way; order the report when it has ended.',
      report_failed: 'The report could not be made.',
      gave_up: 'The report could not be made in several attempts.',
    },
  },
  Import: {
    409: {
      ...cannotWait,
      same_file: 'The file was imported before; send again: true to import it once more.',
      not_complete: 'The import is not finished yet.',
      no_errors: 'No row was refused.',
      no_file: 'The document has no file yet.',
      password_required: 'The document has a password; send its file instead.',
      gave_up: 'The import failed in several attempts.',
      has_holding: 'The account already has transactions in the investment.',
    },
    400: {
      bad_file: 'The file cannot be read in its format, or lacks columns that its type needs.',
      wrong_columns: 'A row has more cells than the header row.',
      not_of_operation: 'A row gives a field that its operation does not have.',
    },
  },
  User: {
    403: { beyond_own_rights: 'Nobody can give others rights that they do not have.' },
    409: {
      last_administrator: 'The registry would be left without an administrator.',
      nothing_to_confirm: 'There is no second factor to confirm; enrol one first.',
      second_factor_present: 'The user already has a second factor.',
    },
  },
  ApiKey: { 403: { beyond_own_rights: 'Nobody can give others rights that they do not have.' } },
  Approval: {
    403: {
      own_request: 'Nobody can approve their own request.',
      not_own_request: 'Only the user who made the request can cancel it.',
    },
    409: {
      approval_expired: 'The request has waited too long and has expired.',
      decided_already: 'The caller has already approved the request.',
      maker_may_not: 'The user who made the request no longer has the permission for it.',
      unknown_operation: 'The requested operation no longer exists in this version.',
    },
  },
  PaymentRun: {
    403: { own_run: 'A run must be approved by somebody other than its maker.' },
    409: {
      nothing_to_pay: 'There is nothing to pay that is not already in a run.',
      nothing_returned: 'No returned payment of the run qualifies.',
    },
  },
} as const satisfies Record<string, OwnWords>

/** Codes that any operation may answer with, by status. */
const everywhere = {
  401: {
    unauthenticated: 'The request has no access token; sign in first.',
    token_invalid: 'The access token is not valid or has expired.',
    session_ended: 'The session has ended; sign in again.',
    code_required: 'Signing in also needs the code of the second factor.',
    code_wrong: 'The code is wrong, or was used before.',
    key_refused: 'The API key is not valid, has ended, or may not be used from this address.',
    sign_in_failed: 'The username or the password is wrong.',
    refresh_refused: 'The refresh token was used before, or has expired.',
  },
  403: {
    people_only: 'An API key cannot do this; sign in with a password.',
    second_factor_required: 'The user must enrol a second factor first.',
    all_products_needed: 'The operation needs a user with access to all products.',
    permission_missing: 'The user lacks the permission that the operation needs.',
    metrics: 'Metrics need a caller on this machine, or the metrics token.',
    scope: 'The operation concerns products that the user may not access.',
  },
  404: {
    not_found: 'There is no such record, or the user may not see it.',
    no_such_path: 'There is nothing at this path.',
  },
  405: { wrong_method: 'The path does not support this method.' },
  408: { timeout: 'The request did not arrive in time.' },
  410: { cursor_expired: 'The events after the cursor are no longer kept.' },
  412: { changed_meanwhile: 'The record has changed since it was read.' },
  413: {
    body_too_large: 'The body is too large.',
    file_too_large: 'The file is too large.',
  },
  415: {
    not_json: 'The body must be JSON.',
    encoded: 'The body has a Content-Encoding.',
    file_type: 'Files of this type are not accepted, or the content does not match the type.',
  },
  422: {
    idempotency_key_reused:
      'The Idempotency-Key was used for another request, or through another API key.',
  },
  429: {
    rate_limit: 'Too many requests in this minute.',
    too_many_failures: 'Too many failed attempts to sign in.',
  },
  431: { headers_too_large: 'The headers are too large.' },
  500: { internal: 'An internal error of the service; nothing was written.' },
  503: {
    busy: 'The service or the record is busy; try again shortly.',
    stopping: 'The node is stopping; try again.',
    database_unavailable: 'The database does not answer.',
    outcome_unknown: 'The connection was lost at the last moment: the request may have been done.',
    storage_unavailable: 'The file storage does not answer.',
    no_room: 'The database is out of disk space or connections; try again later.',
    storage_full: 'The file storage is full.',
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
