import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../shared/api/write.ts'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { inLines } from '../shared/form/problems.ts'
import { count, price } from '../shared/format.ts'
import { tellDone } from '../shared/view/Failure.tsx'
import { readPrice } from './pasted.ts'

type Props = { investmentID: number; onDone: () => void }

/** Prices pasted from a spreadsheet; either all of them are saved or none. */
export function PastePrices({ investmentID, onDone }: Props) {
  const [text, setText] = useState('')
  const [insists, setInsists] = useInsists(text)
  const save = useWrite('post', '/Investment/Price', {
    onKept: onDone,
    onDone: (_prices, message) => {
      tellDone(message || 'The prices are entered.')
      onDone()
    },
  })
  const pasted = text
    .split('\n')
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim())
  const lines = pasted.map(({ line, number }) => readPrice(line, number))
  const error = inLines(
    save.error,
    pasted.map(({ number }) => number),
  )
  const problems = lines.flatMap((line) => ('problem' in line ? [line.problem] : []))
  const prices = lines.flatMap((line) =>
    'problem' in line ? [] : [{ investmentID, ...line, ...(insists && { confirm: true }) }],
  )
  const last = prices.at(-1)
  const one = prices.length === 1
  return (
    <Stack gap="sm">
      <Insist error={error} insists={insists} onChange={setInsists} />
      <Textarea
        label="Day and price, a line each"
        description="As a spreadsheet copies them: 30/06/2026 or 2026-06-30, then the price."
        placeholder={'30/06/2026\t1.0425\n07/07/2026\t1.0431'}
        autosize
        minRows={8}
        maxRows={20}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={problems.slice(0, 3).join('. ')}
        data-autofocus
      />
      <Group justify="space-between">
        <Text size="sm" className="quiet">
          {last &&
            `${count(prices.length)} ${one ? 'price' : 'prices'}, the last ${price(last.price)}`}
        </Text>
        <Button
          disabled={prices.length === 0 || problems.length > 0}
          loading={save.isPending}
          onClick={() => save.mutate(prices)}
        >
          Enter the prices
        </Button>
      </Group>
    </Stack>
  )
}
