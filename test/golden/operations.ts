import type { World } from '../support/world.ts'

export type Request = { method: 'GET' | 'POST' | 'PUT'; path: string; body?: unknown }

const get = (path: string): Request => ({ method: 'GET', path })
const post = (path: string, body: unknown): Request => ({ method: 'POST', path, body })
const put = (path: string, body: unknown): Request => ({ method: 'PUT', path, body })

const money = ({ make }: World, amount: number) => ({ ...make.posting(), quantity: null, amount })

/** The most frequent operations, each with one valid request. */
export const operations: Record<string, (world: World) => Request | Promise<Request>> = {
  'entity-by-id': ({ holder }) => get(`/BizEntity?BizEntityID=${holder.bizEntityID}`),
  'entity-with-organisation-by-id': async ({ make }) =>
    get(`/BizEntity?BizEntityID=${(await make.entity()).bizEntityID}`),
  'entity-page': () => get('/BizEntity?PageSize=100&PageNumber=2'),
  'entity-by-account': () => get('/BizEntity?AccountNumber.beginsWith=10&PageSize=20'),
  'entities-changed': () => get('/BizEntity?UpdatedDateFull=2024-01-01T00:00:00Z&PageSize=100'),
  'entity-created': ({ make }) => post('/BizEntity', make.entityInput()),
  'entity-replaced': async ({ make }) =>
    put('/BizEntity', { ...(await make.entity()), name: make.entityInput().name }),
  'person-by-id': ({ person }) => get(`/Person?PersonID=${person.personID}`),
  'product-by-id': ({ productID }) => get(`/Product?ProductID=${productID}`),
  'investment-page': ({ productID }) => get(`/Investment?ProductID=${productID}&PageSize=100`),
  'price-page': ({ first }) =>
    get(`/Investment/Price?InvestmentID=${first.investmentID}&PageSize=100`),
  'prices-created': ({ second: { investmentID } }) =>
    post('/Investment/Price', [{ investmentID, priceDate: '2024-03-01', price: 1.3 }]),
  deposit: (world) => post('/BizTransaction/Deposit', money(world, 100)),
  'deposits-as-array': (world) =>
    post('/BizTransaction/Deposit', [money(world, 100), money(world, 200)]),
  redemption: ({ make }) => post('/BizTransaction/Redemption', { ...make.posting(), quantity: 10 }),
  'transaction-page': ({ productID }) => get(`/BizTransaction?ProductID=${productID}&PageSize=100`),
  'holdings-of-account': ({ productID, account: { accountID } }) =>
    get(
      `/BizEntity/Account/Holdings?ProductID=${productID}&AccountID=${accountID}&Date=2024-06-30`,
    ),
  'distribution-declared': async ({ make, productID }) => {
    const { corporateActionID } = await make.distribution()
    return post('/Distribution/Declare', { productID, corporateActionID, confirmSecond: true })
  },
  'distribution-accounts': ({ productID }) =>
    get(`/Distribution/Account?ProductID=${productID}&PageSize=100`),
  'notice-page': ({ productID }) => get(`/BizEvent?ProductID=${productID}&PageSize=100`),
  'audit-page': () => get('/Audit?Resource=Product&PageSize=100'),
}
