/**
 * What is left of a notice's units or money, as SQL. A figure that is used up, or more than used
 * up, is null rather than 0, so that the rest is settled by the other figure alone.
 */
export const leftOf = (column: string) => `case when ${column} > 0 then ${column} end`
