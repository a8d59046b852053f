/** The names that people use for operations of the API; other operations keep their own names. */
const special: Record<string, string> = {
  'first start': 'First start',
  'POST /User/Login': 'Signed in',
  'POST /User/RefreshToken': 'Session went on',
  'POST /User/Logout': 'Signed out',
  'PUT /User/Password': 'Password changed',
  'POST /User/SecondFactor': 'Second factor begun',
  'POST /User/SecondFactor/Confirm': 'Second factor set up',
  'DELETE /User/SecondFactor': 'Second factor removed',
  'DELETE /User/Session': 'Session ended',
  'POST /BizEvent/NoticeOfDeposit': 'Deposit announced',
  'POST /BizEvent/NoticeOfRedemption': 'Redemption announced',
  'POST /BizEvent/NoticeOfConversion': 'Conversion announced',
  'PUT /BizEvent/Cancel': 'Notice cancelled',
  'POST /BizTransaction/SetQuantity': 'Quantity set',
  'PUT /BizTransaction': 'Transaction corrected',
  'PUT /BizTransaction/Rollback': 'Transaction rolled back',
  'POST /Distribution': 'Distribution configured',
  'POST /Distribution/Declare': 'Distribution declared',
  'POST /Distribution/Payment': 'Distribution paid',
  'POST /Distribution/DrpAllotment': 'Distribution reinvested',
  'POST /Distribution/Reverse': 'Stage of a distribution taken back',
  'POST /Distribution/PayResiduals': 'Residuals paid',
  'POST /PaymentRun': 'Payment run drafted',
  'POST /PaymentRun/Approve': 'Payment run approved',
  'POST /PaymentRun/Sent': 'Payment run sent',
  'POST /PaymentRun/Result': 'Results of payments recorded',
  'POST /PaymentRun/Reissue': 'Returned payments reissued',
  'POST /PaymentRun/Unclaimed': 'Payments made unclaimed',
  'POST /Report': 'Report ordered',
  'POST /Report/Send': 'Statements sent',
  'POST /Import': 'Import begun',
  'DELETE /Import': 'Import cancelled',
  'POST /Approval/Approve': 'Change approved',
  'POST /Approval/Reject': 'Change rejected',
  'POST /Approval/Cancel': 'Request cancelled',
  'POST /Hold': 'Units held back',
  'DELETE /Hold': 'Units released',
  'POST /Webhook/RotateSecret': 'Secret of a webhook renewed',
  'POST /Webhook/Test': 'Webhook tested',
  'POST /Webhook/Replay': 'Events sent again',
  'POST /Document/File': 'File of a document added',
  'PUT /Document/File': 'File of a document replaced',
  'DELETE /ApiKey': 'API key ended',
}

const things: Record<string, string> = {
  User: 'User',
  ApiKey: 'API key',
  Product: 'Product',
  BizEntity: 'Investor',
  'BizEntity/Parent': 'Parent of an investor',
  Person: 'Person',
  Organisation: 'Organisation',
  Address: 'Address',
  Communication: 'Contact',
  PaymentDetail: 'Bank details',
  Investment: 'Class',
  'Investment/Price': 'Price',
  Distribution: 'Distribution',
  PaymentRun: 'Payment run',
  WithholdingRate: 'Tax rate',
  Document: 'Document',
  Report: 'Report',
  Webhook: 'Webhook',
  ApprovalRule: 'Approval rule',
  Hold: 'Hold',
}
const verbs: Record<string, string> = { POST: 'added', PUT: 'changed', DELETE: 'deleted' }

/** PUT /PaymentDetail is "Bank details changed". */
export function deedOf(operation: string | null): string {
  const [method = '', path = ''] = (operation ?? '').split(' /')
  const posted = /^BizTransaction\/(\w+)$/.exec(path)?.[1]
  const plain = things[path] ? `${things[path]} ${verbs[method] ?? ''}`.trim() : undefined
  return special[operation ?? ''] ?? (posted ? `${posted} posted` : (plain ?? operation ?? ''))
}
