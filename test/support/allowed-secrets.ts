/** The places that hold a copy of the tables. */
export const copies = ['database files', 'backup']

/**
 * The places where a secret may be found, and why. A test fails if it finds a secret anywhere else,
 * or does not find one of these.
 */
export const allowed: { kinds: string[]; places: string[]; why: string }[] = [
  {
    kinds: ['access token', 'refresh token'],
    places: ['answer of POST /User/Login', 'answer of POST /User/RefreshToken'],
    why: 'specification 5.1 and 4.2: so their owner gets them',
  },
  {
    kinds: ['API key'],
    places: ['answer of POST /ApiKey'],
    why: 'decisions 20: shown once, stored hashed',
  },
  {
    kinds: ['second factor'],
    places: ['answer of POST /User/SecondFactor'],
    why: 'decisions 20: secret and otpauth URL once',
  },
  {
    kinds: ['recovery code'],
    places: ['answer of POST /User/SecondFactor/Confirm'],
    why: 'decisions 20: ten recovery codes once',
  },
  {
    kinds: ['bank account'],
    places: [
      ...['POST', 'PUT', 'GET'].map((method) => `answer of ${method} /BizEntity`),
      ...['POST', 'PUT', 'GET'].map((method) => `answer of ${method} /PaymentDetail`),
      ...['answer of GET /Distribution/Account', 'table public.entitlement'], // the copied payee
      'table public.payment',
    ],
    why: 'specification 2.6: a payment detail is shown whole to those who may read it',
  },
  {
    kinds: ['IBAN'],
    places: ['POST', 'PUT', 'GET'].map((method) => `answer of ${method} /PaymentDetail`),
    why: 'the same',
  },
  {
    kinds: ['bank account', 'IBAN'],
    places: ['table public.payment_detail', 'table public.idempotency', ...copies],
    why: 'decisions 5 seal tax numbers only; an answer is kept 24 hours for its Idempotency-Key',
  },
  {
    kinds: ['bank account', 'IBAN'],
    places: ['table public.record_version'],
    why: 'decisions 19: what a payment detail said before it changed, as the table has it',
  },
  {
    kinds: ['bank account'],
    places: ['table public.entitlement_version', 'table public.ledger_version'],
    why: 'the same of a payee, where a payment is taken back or goes on',
  },
  {
    kinds: ['cheque account'],
    places: ['table public.biz_event', ...copies],
    why: 'the same; no answer shows it',
  },
  {
    kinds: ['database password'],
    places: ['key file database-password'],
    why: 'how the service reaches its own database; the key folder is its owner’s alone',
  },
]
