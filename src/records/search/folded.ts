const letters: Record<string, string> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/** Removes accents from a lower-case text, as the database function `folded` does. */
export const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    // the pattern matches only keys of `letters`
    .replace(/[øłđðħıßæœ]/g, (letter) => letters[letter]!)
