export function entitySQL(condition: string): string
export const bareDeposit: string
export const bareDeposits: string
