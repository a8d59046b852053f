/** Random choices from a fixed seed, so that every demonstration is the same. */
export type Chance = {
  /** A whole number from 0 to below the limit. */
  below: (limit: number) => number
  one: <T>(of: readonly T[]) => T
  /** True in so many of a hundred cases. */
  percent: (times: number) => boolean
  between: (least: number, most: number) => number
}

/** The generator mulberry32: small, fast, and good enough for names and amounts. */
export function chanceFrom(seed: number): Chance {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    // Callers never pass an empty list.
    one: (of) => of[below(of.length)]!,
    percent: (times) => below(100) < times,
    between: (least, most) => least + below(most - least + 1),
  }
}
