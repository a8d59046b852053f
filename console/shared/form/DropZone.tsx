import { FileButton, Text, UnstyledButton } from '@mantine/core'
import { type DragEvent, useState } from 'react'
import { Icon } from '../view/icons.tsx'
import classes from './form.module.css'

type Props = {
  label: string
  hint: string
  onFiles: (files: File[]) => void
  accept?: string
  multiple?: boolean
}

/** An area to drop files on, or to choose them without a mouse. */
export function DropZone({ label, hint, onFiles, accept, multiple = false }: Props) {
  const [over, setOver] = useState(false)
  const drag = (on: boolean) => (event: DragEvent) => {
    event.preventDefault()
    setOver(on)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const files = [...event.dataTransfer.files]
    if (files.length > 0) onFiles(multiple ? files : files.slice(0, 1))
  }
  return (
    <FileButton
      onChange={(chosen: File | File[] | null) => {
        const files = [chosen ?? []].flat()
        if (files.length > 0) onFiles(files)
      }}
      multiple={multiple}
      {...(accept && { accept })}
      inputProps={{ 'aria-label': label }}
    >
      {(props) => (
        <UnstyledButton
          {...props}
          className={`${classes.drop} ${over ? classes.over : ''}`}
          onDragOver={drag(true)}
          onDragLeave={drag(false)}
          onDrop={drop}
        >
          <Icon name="upload" size={22} />
          <Text size="sm" fw={500}>
            {label}
          </Text>
          <Text size="xs" className="quiet">
            {hint}
          </Text>
        </UnstyledButton>
      )}
    </FileButton>
  )
}
