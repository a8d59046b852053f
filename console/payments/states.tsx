import { Tag, type Tone } from '../shared/view/Status.tsx'

const tones: { [state: string]: Tone } = {
  Draft: 'waits',
  Approved: 'moves',
  Closed: 'good',
  Pending: 'waits',
  Sent: 'moves',
  Paid: 'good',
  Returned: 'wrong',
  Unclaimed: 'waits',
}

export const State = ({ of }: { of: string | null }) =>
  of && <Tag tone={tones[of] ?? 'over'}>{of}</Tag>

/** Why an amount is not in any payment, and what to do about it. */
export const exceptionReasons: { [code: string]: string } = {
  no_bank_details: 'No bank details: enter them on the investor',
  invalid_bsb: 'The BSB is not valid: correct it on the investor',
  invalid_account: 'The account number cannot be paid to: correct it on the investor',
  invalid_name: 'The account name has no Latin letter: correct it on the investor',
  recently_changed: 'Bank details changed recently: paid after the cool-off days',
  account_suspended: 'The account or its investor is not active',
  below_minimum: 'Less than the run’s minimum: paid once it adds up to more',
  amount_too_large: 'Too large for one payment in this format',
}
