export function entitySQL(condition: string): string
