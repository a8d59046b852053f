import { Text } from '@mantine/core'
import { useEffect, useState } from 'react'

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const pdf = 'application/pdf'

const typeOf = ({ type }: Blob) => type.split(';')[0]?.trim().toLowerCase() ?? ''

type Props = { blob: Blob; name: string }

/**
 * Shows a picture or a PDF from memory. Other types are never shown: an uploaded file must not
 * become a page of this origin.
 */
export function FileView({ blob, name }: Props) {
  const [url, setUrl] = useState<string>()
  const type = typeOf(blob)
  const canShow = type === pdf || pictures.includes(type)
  useEffect(() => {
    if (!canShow) return
    const made = URL.createObjectURL(new Blob([blob], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob, type, canShow])
  if (!canShow)
    return (
      <Text size="sm" className="quiet">
        Files of this kind are not shown here; download it.
      </Text>
    )
  if (!url) return null
  if (type === pdf)
    return (
      <iframe
        src={url}
        title={name}
        style={{ width: '100%', height: '70vh', border: '1px solid var(--edge)' }}
      />
    )
  return (
    <img
      src={url}
      alt={name}
      style={{ maxWidth: '100%', border: '1px solid var(--edge)', borderRadius: 6 }}
    />
  )
}
