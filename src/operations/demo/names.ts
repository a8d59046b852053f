/** Words that the demonstration is made of; no real person is meant. */
export const firstNames =
  `Ava Noah Mia Liam Isla Jack Chloe Leo Grace Henry Ruby Oscar Zoe Hugo Ella Archie Sofia Ethan
  Priya Arjun Mei Wei Aisha Omar Yuki Kenji Lena Jonas Elena Mateo Nadia Tariq Siobhan Callum
  Anika Ravi Hana Minh Linh Duc Maria Antonio Rosa Pedro Freya Lachlan Matilda Angus`.split(/\s+/)

export const lastNames =
  `Smith Nguyen Jones Williams Brown Wilson Taylor Chen Kelly Singh Martin Thompson Lee Walker
  Ryan Patel Murphy Campbell Khan Anderson Roberts Wang Fraser Kaur Clarke Morris Ito Rossi
  Papadopoulos Haddad Fernandez Silva Novak Kowalski Larsen Schmidt Dubois Okafor Mbeki Tanaka
  Hughes Bennett Fitzgerald Sutherland Ashworth Whitlam Gallagher Pearce`.split(/\s+/)

export const companyWords =
  `Banksia Coolabah Ironbark Wattle Harbour Southern Pacific Bluegum Redgum Kestrel Lyrebird
  Capricorn Meridian Northcote Summit Granite Tidewater Saltbush Jarrah Kurrajong`.split(/\s+/)

export const trades =
  'Holdings Investments Nominees Capital Partners Properties Group Ventures'.split(' ')

export const streets =
  `George Pitt Collins Bourke Flinders Queen Adelaide Hindley Hay Murray Elizabeth Macquarie
  Northbourne Ann Albert Station Church Railway Park Victoria`.split(/\s+/)

/** Suburbs with their state and postcode. */
export const suburbs: readonly [suburb: string, state: string, postcode: string][] = [
  ['Sydney', 'NSW', '2000'],
  ['Parramatta', 'NSW', '2150'],
  ['Newcastle', 'NSW', '2300'],
  ['Wollongong', 'NSW', '2500'],
  ['Melbourne', 'VIC', '3000'],
  ['Geelong', 'VIC', '3220'],
  ['Ballarat', 'VIC', '3350'],
  ['Brisbane', 'QLD', '4000'],
  ['Cairns', 'QLD', '4870'],
  ['Adelaide', 'SA', '5000'],
  ['Perth', 'WA', '6000'],
  ['Fremantle', 'WA', '6160'],
  ['Hobart', 'TAS', '7000'],
  ['Darwin', 'NT', '0800'],
  ['Canberra', 'ACT', '2600'],
]
