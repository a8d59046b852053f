import { Modal, Table } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Product } from '../shared/api/types.ts'
import { printPage } from '../shared/list/paper.ts'
import { useMay } from '../shared/permission.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { areas, settings } from './areas.ts'

/**
 * How long the first key is remembered: long enough to press a second key, short enough not to
 * surprise later.
 */
const patienceMs = 1200

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]')

/**
 * Ctrl+P is intercepted because the browser would print only the rows of a list that are in view.
 */
const isToPrint = ({ ctrlKey, metaKey, altKey, shiftKey, key }: KeyboardEvent) =>
  (ctrlKey || metaKey) && !altKey && !shiftKey && key === 'p'

/** "g" and a letter opens an area; "?" lists the keys. */
export function useKeys(product: Product | undefined, onHelp: () => void) {
  const navigate = useNavigate()
  const may = useMay()
  useEffect(() => {
    let leader = 0
    const press = (event: KeyboardEvent) => {
      if (isToPrint(event)) {
        event.preventDefault()
        return void printPage().catch(tellFailure)
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === '?') return onHelp()
      if (event.key === 'g') {
        leader = Date.now()
        return
      }
      if (Date.now() - leader > patienceMs) return
      leader = 0
      const inProduct = areas.find(({ key, needs }) => key === event.key && may(needs))
      const other = settings.find(({ key, needs }) => key === event.key && may(needs))
      if (inProduct && product) void navigate({ to: `/${product.productID}${inProduct.path}` })
      else if (other) void navigate({ to: other.path })
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  })
}

const general: [string, string][] = [
  ['Ctrl K', 'Search, or go to anything'],
  ['Ctrl P', 'Print the page, with every row of its list'],
  ['?', 'This list'],
  ['↑ ↓', 'From row to row in a list'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close what is open'],
]

export function Keys({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const rows = [
    ...general,
    ...[...areas, ...settings].map(({ key, label }): [string, string] => [`g ${key}`, label]),
  ]
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {rows.map(([keys, what]) => (
            <Table.Tr key={keys}>
              <Table.Td w={90}>
                {keys.split(' ').map((key) => (
                  <kbd key={key} style={{ marginRight: 4 }}>
                    {key}
                  </kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
