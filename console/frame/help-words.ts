/** The help text of an area: points, each after a dash, in the language of its users. */
type Words = { title: string; text: string }
export type Help = { title: string; points: string[] }

const registry: Words = {
  title: 'The registry',
  text: `- Choose a product, top left: everything below it is about that product.
      - Ctrl K finds investors, transactions, distributions and documents, and goes anywhere.
      - The bell tells what needs you. What you may not do is not offered.`,
}

/** Help texts by route prefix; the longest prefix that matches is used. */
const helps: Record<string, Words> = {
  '/$product': {
    title: 'Overview',
    text: `- What the product comes to now, month by month, and what waits for you.
      - Each figure leads to its list. Values are units on issue at the last price of each
        class.`,
  },
  '/$product/investors': {
    title: 'Investors',
    text: `- Filters stand as chips and in the address, so that a view can be saved, sent or gone
        back to.
      - An investor has parties (persons or organisations), accounts of units, and payment
        details that money goes to.
      - History shows who changed what, before and after. Tax file numbers are shown by their
        last digits only.
      - Where a rule asks for it, a change waits under Approvals until somebody else approves
        it.`,
  },
  '/$product/transactions': {
    title: 'Transactions',
    text: `- Each kind shows its units, price and fee, and the holding before and after, before it
        is posted.
      - A correction keeps the version before. A rollback counts for nothing and stays readable,
        with its reason.
      - Look back shows the ledger as it was known at another moment: without what was entered
        later.
      - Many rows are pasted from a spreadsheet, or come in under Import.`,
  },
  '/$product/notices': {
    title: 'Notices',
    text: `- A notice is announced money or units that are not posted yet; the board counts them by
        state and type.
      - Choose some, or open one, and settle them at the price of a day: each becomes a
        transaction.
      - A transaction that is rolled back makes its notice pending again.`,
  },
  '/$product/classes': {
    title: 'Classes and prices',
    text: `- A class is what investors hold units of. A price holds from its day until the next.
      - Prices are pasted from a spreadsheet. One that differs more than the class allows must
        be confirmed.
      - A corrected price does not change what was posted at it; open it to see what that is.`,
  },
  '/$product/distributions': {
    title: 'Distributions',
    text: `- Configure, look at the preview, declare, pay, reinvest: each stage can be taken back,
        with a reason.
      - Declaring locks the entitlements as at the record date; what is entered later does not
        change them.
      - Gross is tax, reinvested and cash, to the cent. Pay by bank leads to a payment run of
        the cash.`,
  },
  '/$product/payments': {
    title: 'Payments',
    text: `- A draft gathers what is payable, one payment for each payee; what cannot be paid stands
        under Exceptions.
      - Somebody else than the maker approves. Then the bank’s file is made, and cannot change.
      - Results are recorded by hand or by a file under Import. What came back is reissued or
        becomes unclaimed.`,
  },
  '/$product/holds': {
    title: 'Holds',
    text: `- A hold keeps units in their account, for a court order or a pledge: nothing takes them
        out.
      - Who held them back, when and why stays in the audit trail when they are released.`,
  },
  '/$product/reports': {
    title: 'Reports and statements',
    text: `- Reports are made in the background; leave the page and come back. A PDF is shown in the
        page.
      - A zip of statements is sent by e-mail from here, each once and by the holder’s
        preference.
      - Order again asks for the same as it was known then, whatever was corrected since.`,
  },
  '/$product/documents': {
    title: 'Documents',
    text: `- Drop files on the page; pictures and PDFs are shown in it. A file may have a password
        of its own.
      - A public document can be opened by anybody who has its number.`,
  },
  '/$product/import': {
    title: 'Import',
    text: `- Choose what the rows are, drop the file, and say which column is which field.
      - The file is checked as if: refused rows stand with their reason and are mended where
        they stand.
      - It goes in as a whole, or the good rows go in and the others are mended after. Nothing
        is imported twice by pressing twice.`,
  },
  '/approvals': {
    title: 'Approvals',
    text: `- What a rule keeps waits here, as before and after, until somebody else than who asked
        approves it.
      - A rejection needs a reason. Your own requests can be cancelled.`,
  },
  '/settings/products': {
    title: 'Products',
    text: `- A product is a fund or a company whose units are on this register.
      - The issuer is who letters to investors come from. Up to the locked day nothing changes
        any more.`,
  },
  '/settings/users': {
    title: 'Users',
    text: `- A role says what a user may do; the products say where. Roles shows what each may.
      - An inactive user is signed out at once, everywhere.`,
  },
  '/settings/approval-rules': {
    title: 'Approval rules',
    text: `- A rule lets changes of one kind of record, or one operation, wait for somebody else:
        from an amount on, of some fields, of some products.
      - What waits already goes on waiting when a rule is deleted.`,
  },
  '/settings/tax-rates': {
    title: 'Tax rates',
    text: `- What is withheld by law, by rule, kind of income, country and period. It applies to
        products that withhold tax.
      - A rate ends with its last day; the next is another row.`,
  },
  '/settings/webhooks': {
    title: 'Webhooks',
    text: `- A webhook tells another system by POST what happens here, signed with its secret.
      - Deliveries show what was answered; events are sent again from a day on.`,
  },
  '/settings/audit': {
    title: 'Audit trail',
    text: `- Who did what, when, and what changed. Entries are sealed in a chain.
      - Verify recomputes it: nothing was changed, and nothing is missing.`,
  },
  '/settings/account': {
    title: 'Your account',
    text: `- The second factor, where you are signed in, and keys for programs that act for you.
      - A key is shown once, and may do no more than you may.`,
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
