/** A credit transfer initiation, ISO 20022 pain.001.001.03 by the CGI rules. */
export type Transfer = {
  reference: string
  amount: string
  name: string
  bsb: string | null
  accountNumber: string | null
  iban: string | null
  bic: string | null
}

export type Initiation = {
  messageID: string
  /** YYYY-MM-DDThh:mm:ss */
  created: string
  initiator: string
  /** YYYY-MM-DD */
  executionDate: string
  currency: string
  debtor: { name: string; bsb: string | null; accountNumber: string; bic: string | null }
  total: string
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** XML has no place for control characters, U+FFFE and U+FFFF, not even written as references. */
const text = (value: string) =>
  value.replaceAll(/[\p{Cc}\ufffe\uffff]/gu, ' ').replaceAll(/[&<>"]/g, (sign) => entities[sign]!)
const tag = (name: string, ...inner: string[]) => `<${name}>${inner.join('')}</${name}>`
const value = (name: string, content: string, most = 140) => tag(name, text(content.slice(0, most)))

/** The clearing system that numbers banks and branches for payments in a currency. */
const clearingOf = (currency: string) => (currency === 'NZD' ? 'NZNCC' : 'AUBSB')

/** A bank by its BIC, else by its clearing number, else unnamed: an IBAN identifies the bank. */
const bank = (bic: string | null, bsb: string | null, currency: string) =>
  tag(
    'FinInstnId',
    bic
      ? value('BIC', compact(bic))
      : bsb
        ? tag(
            'ClrSysMmbId',
            tag('ClrSysId', value('Cd', clearingOf(currency))),
            value('MmbId', bsb.replace('-', '')),
          )
        : tag('Othr', value('Id', 'NOTPROVIDED')),
  )

/** A BIC or IBAN without the blanks, hyphens and dots with which people write it. */
const compact = (code: string) => code.replaceAll(/[\s.-]/g, '').toUpperCase()

const accountOf = (iban: string | null, accountNumber: string | null) =>
  tag('Id', iban ? value('IBAN', compact(iban)) : tag('Othr', value('Id', accountNumber ?? '', 34)))

const transfer = (one: Transfer, currency: string) =>
  tag(
    'CdtTrfTxInf',
    tag('PmtId', value('InstrId', one.reference, 35), value('EndToEndId', one.reference, 35)),
    tag('Amt', `<InstdAmt Ccy="${currency}">${one.amount}</InstdAmt>`),
    tag('CdtrAgt', one.iban ? bank(one.bic, null, currency) : bank(null, one.bsb, currency)),
    tag('Cdtr', value('Nm', one.name)),
    tag('CdtrAcct', accountOf(one.iban, one.accountNumber)),
    tag('RmtInf', value('Ustrd', one.reference)),
  )

export function painFile(initiation: Initiation, transfers: readonly Transfer[]): string {
  const { messageID, created, initiator, executionDate, currency, debtor, total } = initiation
  const sums = [value('NbOfTxs', String(transfers.length)), value('CtrlSum', total)]
  const group = tag(
    'GrpHdr',
    value('MsgId', messageID, 35),
    value('CreDtTm', created),
    ...sums,
    tag('InitgPty', value('Nm', initiator)),
  )
  const payment = tag(
    'PmtInf',
    value('PmtInfId', messageID, 35),
    value('PmtMtd', 'TRF'),
    value('BtchBookg', 'true'),
    ...sums,
    value('ReqdExctnDt', executionDate),
    tag('Dbtr', value('Nm', debtor.name)),
    tag('DbtrAcct', accountOf(null, debtor.accountNumber), value('Ccy', currency)),
    tag('DbtrAgt', bank(debtor.bic, debtor.bsb, currency)),
    ...transfers.map((one) => transfer(one, currency)),
  )
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03">' +
    `${tag('CstmrCdtTrfInitn', group, payment)}</Document>\n`
  )
}
