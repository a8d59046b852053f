/**
 * What is left of a figure of notices. One that was used up before the other, or more than used up,
 * is none rather than 0: whoever settles the rest goes by the other alone.
 */
export const leftOf = (column: string) => `case when ${column} > 0 then ${column} end`
