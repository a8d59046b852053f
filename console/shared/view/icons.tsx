/**
 * The few icons of the console as stroke paths: twenty of them are smaller than a library's index.
 */
const paths = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  investors:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3 20a6 6 0 0 1 12 0' +
    'M16 4.5a3.5 3.5 0 0 1 0 6M17.5 14.5A6 6 0 0 1 21 20',
  transactions: 'M4 8h14l-3.5-3.5M20 16H6l3.5 3.5',
  notices: 'M6 4h9l4 4v12H6zM9 12h7M9 16h5',
  classes: 'M4 19 9.5 12l4 3.5L20 6M4 19h16',
  distributions:
    'M12 3v18M16.5 7.2C16 5.6 14.3 5 12 5c-2.6 0-4.5 1-4.5 3.2 0 4.8 9.5 2.4 9.5 7.3 0' +
    ' 2.3-2.2 3.5-5 3.5-2.7 0-4.6-1-5-3',
  payments: 'M3 6h18v12H3zM3 10h18M7 14.5h4',
  import: 'M12 4v10m-4-4 4 4 4-4M4 14v6h16v-6',
  reports: 'M5 20V4h14v16zM9 16v-3M12 16V9M15 16v-5',
  documents: 'M7 3h7l5 5v13H7zM14 3v5h5',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM20 20l-4.8-4.8',
  plus: 'M12 5v14M5 12h14',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  cross: 'M6 6l12 12M18 6 6 18',
  down: 'm7 10 5 5 5-5',
  right: 'm10 7 5 5-5 5',
  left: 'm14 7-5 5 5 5',
  sun:
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.4 1.4' +
    'M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z',
  help:
    'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM9.6 9.4a2.5 2.5 0 1 1 3.6 2.3' +
    'c-.9.5-1.2 1-1.2 1.9M12 16.6v.01',
  leave: 'M14 4H5v16h9M10 12h10m-3.5-3.5L20 12l-3.5 3.5',
  filter: 'M4 6h16M7 12h10M10 18h4',
  order: 'M7 5v14m-3-3 3 3 3-3M17 19V5m-3 3 3-3 3 3',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  print: 'M7 9V4h10v5M8 17H5V9h14v8h-3M8 14h8v6H8z',
  download: 'M12 4v11m-4-4 4 4 4-4M5 20h14',
  upload: 'M12 15V4m-4 4 4-4 4 4M5 20h14',
  bookmark: 'M7 4h10v16l-5-4-5 4z',
  pen: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  bin: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  back: 'M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  alert: 'M12 4 3 19h18zM12 10v4M12 16.5v.01',
  clock: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM12 8v4l3 2',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20a7.5 7.5 0 0 1 15 0',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4',
  rule: 'M5 4h14v16H5zM8.5 9l1.3 1.3L12.5 8M15 9.5h1.5M8.5 15l1.3 1.3 2.7-2.3M15 15.5h1.5',
  percent: 'M18 6 6 18M7.5 9.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM16.5 18.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  webhook: 'M4 12h10m-3.5-3.5L14 12l-3.5 3.5M18 5v14',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.7}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
    style={{ flex: 'none', display: 'block' }}
  >
    <path d={paths[name]} />
  </svg>
)
