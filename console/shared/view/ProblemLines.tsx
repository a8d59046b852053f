import { Text } from '@mantine/core'
import { useLayoutEffect, useRef, useState } from 'react'
import { labelsIn } from '../form/labels.ts'
import { linesOf } from '../form/problems.ts'

/** What is wrong, one problem in a line. Fields have the labels of the form or dialog around. */
export function ProblemLines({ error }: { error: unknown }) {
  const top = useRef<HTMLDivElement>(null)
  const [lines, setLines] = useState(() => linesOf(error))
  useLayoutEffect(() => {
    const form = top.current?.closest('form, [role=dialog]')
    setLines(linesOf(error, labelsIn(form)))
  }, [error])
  return (
    <div ref={top}>
      {lines.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </div>
  )
}
