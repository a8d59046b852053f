/** The help text of an area: points, each after a dash, in the language of its users. */
type Words = { title: string; text: string }
export type Help = { title: string; points: string[] }

const registry: Words = {
  title: 'The registry',
  text: `- Choose a product at the top left. Every page below it is about that product.
    - Press Ctrl K to search for investors, transactions, distributions and documents, or to go to
      any page.
    - The bell shows what is waiting for you. Actions that you have no permission for are not
      offered.`,
}

/** Help texts by route prefix; the longest prefix that matches is used. */
const helps: Record<string, Words> = {
  '/$product': {
    title: 'Overview',
    text: `- The value of the product today and month by month, and the work that is waiting for
        you.
      - Click a figure to open the list behind it. Values are the units on issue at the latest price
        of each class.`,
  },
  '/$product/investors': {
    title: 'Investors',
    text: `- The filters in use are shown above the list and are part of the page address, so that
        you can save a view, share its link or go back to it.
      - An investor has parties (persons or organisations), accounts that hold units, and payment
        details that money is paid to.
      - History shows who changed what, with the values before and after. Only the last digits of a
        tax file number are shown.
      - If an approval rule applies, a change waits under Approvals until somebody else has approved
        it.`,
  },
  '/$product/transactions': {
    title: 'Transactions',
    text: `- Before you post a transaction, the form shows its units, price and fee, and the holding
        before and after it.
      - When you correct a transaction, the earlier version is kept. A rolled-back transaction no
        longer counts, but stays in the list with the reason.
      - Look back shows the ledger as it was known at an earlier moment, without anything that was
        entered later.
      - To enter many transactions, paste them from a spreadsheet, or upload a file under Import.`,
  },
  '/$product/notices': {
    title: 'Notices',
    text: `- A notice announces money or units that are not posted yet. The board counts notices by
        status and type.
      - Select several notices, or open one, and settle them at the price of a date that you choose.
        Each becomes a transaction.
      - If that transaction is rolled back, its notice is pending again.`,
  },
  '/$product/classes': {
    title: 'Classes and prices',
    text: `- Investors hold units of a class. A price applies from its date until the date of the
        next price.
      - Prices can be pasted from a spreadsheet. A price that differs from the one before it by more
        than the class allows must be confirmed.
      - Correcting a price does not change the transactions that were posted at it. Open the price
        to see which they are.`,
  },
  '/$product/distributions': {
    title: 'Distributions',
    text: `- The steps are: configure, check the preview, declare, pay, reinvest. Each completed
        stage can be reversed; you must give a reason.
      - Declaring fixes the entitlements as at the record date. Anything entered later does not
        change them.
      - The gross amount is the sum of tax, reinvested amount and cash, exact to the cent. Pay by
        bank starts a payment run for the cash.`,
  },
  '/$product/payments': {
    title: 'Payments',
    text: `- A draft run collects all amounts that are payable, as one payment for each payee.
        Amounts that cannot be paid are listed under Exceptions.
      - Somebody other than the person who made the run must approve it. Its bank file is then
        created and can no longer change.
      - Record the results by hand, or import them from a file under Import. A returned payment can
        be reissued or marked as unclaimed.`,
  },
  '/$product/holds': {
    title: 'Holds',
    text: `- A hold keeps units in their account, for example because of a court order or a pledge.
        No transaction can take held units out.
      - After a hold is released, the audit trail still shows who placed it, when and why.`,
  },
  '/$product/reports': {
    title: 'Reports and statements',
    text: `- Reports are made in the background: you can leave this page and come back later. PDFs
        are shown on the page.
      - You can e-mail the statements in a zip file from here. Each statement is sent once, and the
        holder’s delivery preference decides between e-mail and post.
      - Order again orders the same report with the data as known when the first one was made,
        without later corrections.`,
  },
  '/$product/documents': {
    title: 'Documents',
    text: `- Drop files on the page to upload them. Pictures and PDFs are shown on the page. A file
        can have its own password.
      - Anybody who knows the number of a public document can open it without signing in.`,
  },
  '/$product/import': {
    title: 'Import',
    text: `- Choose what the rows contain, drop the file on the page, and match its columns to
        fields.
      - The file is checked first, without importing anything. Refused rows are listed with the
        reason, and you can correct them there.
      - Then import all rows or none, or import the good rows now and correct the others later.
        Pressing the button twice does not import anything twice.`,
  },
  '/approvals': {
    title: 'Approvals',
    text: `- Changes that need approval by an approval rule wait here. You see the values before and
        after. Somebody other than the person who asked must approve them.
      - To reject a change, give a reason. You can cancel your own requests.`,
  },
  '/settings/products': {
    title: 'Products',
    text: `- A product is a fund or a company whose units are kept in this register.
      - The issuer is shown as the sender of letters to investors. Nothing dated on or before the
        locked date can be changed.`,
  },
  '/settings/users': {
    title: 'Users',
    text: `- The role decides what a user may do; the products decide where. The list behind the
        Roles button shows the permissions of each role.
      - A user who is made inactive is signed out everywhere at once.`,
  },
  '/settings/approval-rules': {
    title: 'Approval rules',
    text: `- A rule makes changes to one kind of record, or one operation, wait for somebody else’s
        approval. It can be limited to amounts from a minimum, to certain fields and to certain
        products.
      - Changes that are already waiting go on waiting after the rule is deleted.`,
  },
  '/settings/tax-rates': {
    title: 'Tax rates',
    text: `- The rates of tax to withhold, by rule, kind of income, country and period. They apply
        to products that withhold tax.
      - A rate applies up to and including its last day. Add the rate that follows as a new row.`,
  },
  '/settings/webhooks': {
    title: 'Webhooks',
    text: `- A webhook sends events from this registry to another system by HTTP POST, signed with
        the secret of the webhook.
      - Deliveries shows the answers of the other system. You can send events again from a chosen
        date.`,
  },
  '/settings/audit': {
    title: 'Audit trail',
    text: `- Who did what, when, and what changed. The entries are sealed in a chain.
      - Verify recomputes the chain and confirms that nothing was changed and nothing is missing.`,
  },
  '/settings/account': {
    title: 'Your account',
    text: `- Your second factor, your signed-in sessions, and the API keys of programs that act on
        your behalf.
      - An API key is shown only once, and never has more permissions than you.`,
  },
}

/** The help of a page: that of its area, or that of the registry where the area has none. */
export function helpFor(route: string): Help {
  const [nearest] = Object.entries(helps)
    .filter(([start]) => route === start || route.startsWith(`${start}/`))
    .sort(([one], [other]) => other.length - one.length)
  const { title, text } = nearest?.[1] ?? registry
  const points = text.split(/(?:^|\n)\s*- /).filter(Boolean)
  return { title, points: points.map((point) => point.replaceAll(/\s+/g, ' ').trim()) }
}
