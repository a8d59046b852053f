/** Random numbers from 0 up to 1 that a seed repeats (mulberry32), and choices made with them. */
export function randomFrom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    integer,
    one: <T>(list: readonly T[]) => list[integer(0, list.length - 1)]!,
    bytes: (size: number) => Buffer.from(Array.from({ length: size }, () => integer(0, 255))),
    shuffled: <T>(list: readonly T[]) =>
      list
        .map((value) => ({ value, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ value }) => value),
  }
}

export type Random = ReturnType<typeof randomFrom>
