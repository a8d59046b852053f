import sql from 'sql-template-tag'
import { generatePassword } from '../../access/password/hash.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { type Chance, chanceFrom } from './chance.ts'
import { addDays } from './days.ts'
import { distribute } from './distributions.ts'
import { investor } from './investors.ts'
import { historyOf, type Postings } from './ledger.ts'
import { addPaper } from './papers.ts'
import { type People, payByBank } from './payments.ts'
import type { Made, Perform } from './perform.ts'
import { manager, type ProductPlan, products, years } from './plan.ts'
import { type Days, pricesOf } from './prices.ts'

const seed = 20_260_630
/** The most records that an array of the API may hold. */
const most = 1000

export type DemoUsers = { usernames: string[]; password: string }

/** Whether the registry has data: a demonstration is only made in an empty one. */
export async function hasData(handle: Sql): Promise<boolean> {
  const [found] = await handle.query(sql`
    select 1 from product union all select 1 from biz_entity union all select 1 from person
    limit 1`)
  return found !== undefined
}

/** Makes three products of a made-up manager, each with a history of three years. */
export async function makeDemo(
  perform: Perform,
  today: string,
  tell: (line: string) => void,
): Promise<DemoUsers> {
  const chance = chanceFrom(seed)
  const { people, ...users } = await makeUsers(perform)
  const days = { from: addDays(today, -365 * years), to: today }
  let number = 1000
  for (const plan of products) {
    tell(`${plan.name}: ${plan.investors} investors`)
    const productID = await makeProduct(perform, chance, plan, number, days)
    await payByBank(perform, plan, productID, people, days)
    number += plan.investors
  }
  return users
}

async function makeProduct(
  perform: Perform,
  chance: Chance,
  plan: ProductPlan,
  number: number,
  days: Days,
): Promise<number> {
  const { externalProductId, name, description } = plan
  const [product] = await perform.do('POST /Product', {
    externalProductId,
    name,
    description,
    currencyID: lookups.Currency.AUD,
    withholding: true,
    issuer: issuerOf(plan),
  })
  const productID = product!.productID!
  const classes = await makeClasses(perform, chance, plan, productID, days)
  const made = await makeInvestors(perform, chance, plan, number, productID)
  const history = made.map((one, i) => {
    const accountID = (one.accounts as unknown as Made[])[0]!.accountID!
    const place = chance.percent(82) ? 0 : classes.length - 1
    const holder = { accountID, productID, investmentID: classes[place]!.investmentID! }
    const postings = historyOf(chance, holder, number + i, days)
    return one.bizEntityStatusID === active ? postings : withoutMoneyOut(postings)
  })
  await post(perform, history)
  const [first] = plan.classes
  for (const [i, { investmentID }] of classes.entries()) {
    const names = { productID, investmentID: investmentID!, securityCode: plan.classes[i]!.code }
    await distribute(perform, plan, names, days)
  }
  await addPaper(perform, { productID }, disclosure(plan, first!.name))
  for (const one of made.slice(0, 12))
    await addPaper(perform, { bizEntityID: one.bizEntityID! }, application(plan))
  return productID
}

const issuerOf = ({ name }: ProductPlan) => ({
  name: manager,
  address: 'Level 9, 12 Bridge Street, Sydney NSW 2000',
  phone: '02 5550 0100',
  email: 'registry@kurrajong.example',
  accentColour: '#0f766e',
  statementNote: `${name} is made up for a demonstration. Nobody in it exists.`,
})

/** No money leaves the account of an investor who is not active. */
const { Active: active } = lookups.BizEntityStatus
const withoutMoneyOut = ({ deposits, pending }: Postings): Postings => ({
  deposits,
  redemptions: [],
  pending: { deposits: pending.deposits, redemptions: [] },
})

const disclosure = ({ name, description }: ProductPlan, first: string) => ({
  documentTypeID: lookups.DocumentType['Product disclosure statement'],
  name: 'Product disclosure statement',
  about: `${name}. ${description} This statement is about ${first} and every other class.`,
})
const application = ({ name }: ProductPlan) => ({
  documentTypeID: lookups.DocumentType['Application form'],
  name: 'Application form',
  about: `Application for units in the ${name}, signed by all applicants.`,
})

async function makeClasses(
  perform: Perform,
  chance: Chance,
  plan: ProductPlan,
  productID: number,
  days: Days,
): Promise<Made[]> {
  const made: Made[] = []
  for (const one of plan.classes) {
    const [investment] = await perform.do('POST /Investment', {
      productID,
      securityCode: one.code,
      externalInvestmentId: one.code,
      name: one.name,
      currencyID: lookups.Currency.AUD,
      unitDecimals: 4,
    })
    await perform.do(
      'POST /Investment/Price',
      pricesOf(chance, one, investment!.investmentID!, days),
    )
    made.push(investment!)
  }
  return made
}

async function makeInvestors(
  perform: Perform,
  chance: Chance,
  { investors }: ProductPlan,
  number: number,
  productID: number,
): Promise<Made[]> {
  const bodies = Array.from({ length: investors }, (_, i) =>
    investor(chance, number + i, productID),
  )
  return inParts(bodies, (part) => perform.do('POST /BizEntity', part))
}

/** Posts money in before money out, so that no holding becomes negative. */
async function post(perform: Perform, history: Postings[]) {
  await inParts(
    history.flatMap(({ deposits }) => deposits),
    (part) => perform.do('POST /BizTransaction/Deposit', part),
  )
  await inParts(
    history.flatMap(({ redemptions }) => redemptions),
    (part) => perform.do('POST /BizTransaction/Redemption', part),
  )
  for (const { pending } of history) {
    for (const notice of pending.deposits)
      await perform.do('POST /BizEvent/NoticeOfDeposit', notice)
    for (const notice of pending.redemptions)
      await perform.do('POST /BizEvent/NoticeOfRedemption', notice)
  }
}

async function inParts(rows: object[], work: (part: object[]) => Promise<Made[]>): Promise<Made[]> {
  const made: Made[] = []
  for (let i = 0; i < rows.length; i += most) made.push(...(await work(rows.slice(i, i + most))))
  return made
}

/** Makes a user of each role. The password is generated and shown once; there is no fixed one. */
async function makeUsers(perform: Perform): Promise<DemoUsers & { people: People }> {
  const password = generatePassword()
  const make = async (username: string, role: string) => {
    const [user] = await perform.do('POST /User', { username, password, role })
    return user!
  }
  const approver = await make('morgan', 'Administrator')
  const maker = await make('riley', 'Operator')
  await make('sam', 'ReadOnly')
  return { usernames: ['morgan', 'riley', 'sam'], password, people: { maker, approver } }
}
