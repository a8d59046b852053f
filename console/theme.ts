import { createTheme, type MantineColorsTuple } from '@mantine/core'

const teal: MantineColorsTuple = [
  '#f0fdfa',
  '#d5f5ef',
  '#aee8de',
  '#7dd6c8',
  '#4bbdae',
  '#269d8f',
  '#138175',
  '#0f6b62',
  '#0f554f',
  '#104541',
]

/**
 * Mantine's red, darker in the shades behind white text: its own seventh shade is hard to read on.
 */
const red: MantineColorsTuple = [
  '#fff5f5',
  '#ffe3e3',
  '#ffc9c9',
  '#ffa8a8',
  '#ff8787',
  '#ff6b6b',
  '#e03131',
  '#c92a2a',
  '#b02525',
  '#971f1f',
]

/** The dark colours of drawers, fields and buttons have the same cool tone as the page. */
const dark: MantineColorsTuple = [
  '#d3d9e1',
  '#bcc4ce',
  '#9aa4b2',
  '#6b7583',
  '#363d47',
  '#2b3139',
  '#20252b',
  '#1b1f24',
  '#14171b',
  '#0f1215',
]

/** The head of a dialog must not be announced as the banner of the page. */
const dialog = {
  styles: { title: { fontWeight: 600, fontSize: 16 } },
  closeButtonProps: { 'aria-label': 'Close' },
  attributes: { header: { role: 'none' } },
}

export const theme = createTheme({
  // No animations for users whose system asks for reduced motion.
  respectReducedMotion: true,
  primaryColor: 'registry',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  colors: { registry: teal, red, dark },
  fontFamily: 'Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '20px' }, h2: { fontSize: '15px' } } },
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    // The description goes below the field, so that fields side by side are aligned.
    InputWrapper: {
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    },
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', checkIconPosition: 'right' } },
    // A secret that is shown once is read and copied from here: none of it may be out of view.
    Code: { styles: { root: { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 500 } },
    Modal: { defaultProps: { centered: true, ...dialog } },
    Drawer: { defaultProps: { position: 'right', ...dialog } },
    Tooltip: { defaultProps: { openDelay: 300 } },
  },
})

/**
 * Prints in the light scheme, since paper is white and the text colours of the dark scheme are too
 * pale.
 */
export function lightOnPaper() {
  const { dataset } = document.documentElement
  let onScreen: string | undefined
  addEventListener('beforeprint', () => {
    onScreen ??= dataset.mantineColorScheme
    dataset.mantineColorScheme = 'light'
  })
  addEventListener('afterprint', () => {
    if (onScreen) dataset.mantineColorScheme = onScreen
    onScreen = undefined
  })
}
