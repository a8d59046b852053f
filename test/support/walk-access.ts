import { codeAt, stepAt } from '../../src/access/second-factor/totp.ts'
import { ask, type Carried, find, one, type Walk } from './walk.ts'

export function* users({ passwords }: Carried): Walk {
  yield ask('POST /User/Login', { username: 'admin', password: passwords.admin })
  const username = 'holder'
  const right = { username, role: 'Operator' }
  const { userID } = one(yield ask('POST /User', { ...right, password: passwords.user }))
  const first = (yield ask('POST /User/Login', { username, password: passwords.user })).data
  const { accessToken, refreshToken } = first
  yield ask(
    'POST /User/RefreshToken',
    { refreshToken },
    { headers: { Authorization: accessToken } },
  )
  const changed = { userID, role: 'Operator', isActive: true, password: passwords.replaced }
  yield ask('PUT /User', changed)
  yield ask('PUT /User/Password', { userID, newPassword: passwords.reset })
  yield find('GET /User')
  const signIn = ask('POST /User/Login', { username, password: passwords.reset })
  const headers = { Authorization: (yield signIn).data.accessToken }
  yield* ofOneself(userID, headers)
  yield find('DELETE /User/Session', { UserID: userID })
  const last = (yield signIn).data
  yield ask('POST /User/Logout', undefined, { headers: { Authorization: last.accessToken } })
}

function* ofOneself(userID: number, headers: Record<string, string>): Walk {
  yield ask('GET /User/Me', undefined, { headers })
  yield ask('GET /User/Session', undefined, { headers })
  const made = one(yield ask('POST /ApiKey', keyInput, { headers }))
  yield ask('GET /User/Me', undefined, { headers: { Authorization: made.key } })
  yield ask('GET /ApiKey', undefined, { headers })
  yield ask('DELETE /ApiKey', undefined, { query: { ApiKeyID: made.apiKeyID }, headers })
  const enrol = ask('POST /User/SecondFactor', undefined, { headers })
  yield enrol
  const { secret } = (yield enrol).data // the secret of the last request is the valid one
  const code = codeAt(secret, stepAt(Date.now()))
  yield ask('POST /User/SecondFactor/Confirm', { code }, { headers })
  yield find('DELETE /User/SecondFactor', { UserID: userID })
}

/** Bank details that wait for another user: one approved, one rejected and one cancelled. */
export function* approvals(
  { passwords, bankAccounts }: Carried,
  { bizEntityID }: { bizEntityID: number },
): Walk {
  const signIn = ask('POST /User/Login', { username: 'approver', password: passwords.user })
  const headers = { Authorization: (yield signIn).data.accessToken }
  const rule = one(yield ask('POST /ApprovalRule', { resource: 'PaymentDetail' }))
  const { approvalRuleID } = rule
  yield ask('PUT /ApprovalRule', { approvalRuleID, requiredApprovals: 1 })
  yield find('GET /ApprovalRule')
  const { other: accountNumber, iban } = bankAccounts
  const detail = { bizEntityID, bsb: '062-000', accountNumber, iban }
  const ids: number[] = []
  while (ids.length < 3) {
    const kept = one(yield ask('POST /PaymentDetail', detail))
    if (kept.approvalID) ids.push(kept.approvalID)
  }
  const [approvalID, rejected, cancelled] = ids
  yield find('GET /Approval')
  yield ask('POST /Approval/Approve', { approvalID }, { headers })
  yield ask('POST /Approval/Reject', { approvalID: rejected, reason: 'No form' }, { headers })
  yield ask('POST /Approval/Cancel', { approvalID: cancelled })
  yield find('DELETE /ApprovalRule', { ApprovalRuleID: approvalRuleID })
}

const keyInput = { name: 'Nightly', permissions: ['Product.Read'] }
