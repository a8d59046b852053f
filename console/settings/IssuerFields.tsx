import { ColorInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useReadAll } from '../shared/api/pages.ts'
import type { Document } from '../shared/api/types.ts'
import { Row } from '../shared/form/fields.tsx'
import { beside } from '../shared/format.ts'
import classes from './issuer.module.css'
import type { ProductPart } from './product-values.ts'

type IssuerPart = ProductPart & { productID: number | null }

const colours = ['#0f6b62', '#1f4e79', '#7a1f3d', '#3d3d3d']

/** The fields of the issuer, beside a preview of the letterhead that investors get. */
export const IssuerFields = ({ form, productID }: IssuerPart) => (
  <Stack gap="sm">
    <Row narrow>
      <TextInput
        label="Name"
        description="Without an issuer, letters have the product’s name alone."
        {...form.getInputProps('issuer.name')}
      />
      <TextInput label="ABN" {...form.getInputProps('issuer.abn')} />
    </Row>
    <Textarea label="Address" autosize minRows={2} {...form.getInputProps('issuer.address')} />
    <Row narrow>
      <TextInput label="Phone" {...form.getInputProps('issuer.phone')} />
      <TextInput label="E-mail" {...form.getInputProps('issuer.email')} />
    </Row>
    <Row narrow>
      <TextInput label="Website" {...form.getInputProps('issuer.website')} />
      <ColorInput
        label="Colour"
        placeholder="#1f4e79"
        swatches={colours}
        withEyeDropper={false}
        {...form.getInputProps('issuer.accentColour')}
      />
    </Row>
    <LogoField form={form} productID={productID} />
    <Textarea
      label="At the end of every statement"
      autosize
      minRows={2}
      {...form.getInputProps('issuer.statementNote')}
    />
    <Letterhead form={form} />
  </Stack>
)

/** Chooses the logo from the pictures among the product's documents. */
function LogoField({ form, productID }: IssuerPart) {
  const { data = [] } = useReadAll<Document>('/Document/List', { ProductID: productID })
  const pictures = data.filter(({ fileName }) => /\.(png|jpe?g)$/i.test(fileName ?? ''))
  const { logoDocumentID } = form.values.issuer
  const isElsewhere = logoDocumentID && !data.some((one) => one.documentID === logoDocumentID)
  return (
    <Select
      label="Logo"
      description="A PNG or JPEG among the documents of the product."
      placeholder="None"
      data={[
        ...pictures.map(({ documentID, name, fileName }) => ({
          value: String(documentID),
          label: beside([name, `(${fileName})`], ' '),
        })),
        ...(isElsewhere
          ? [{ value: `${logoDocumentID}`, label: `Document ${logoDocumentID}` }]
          : []),
      ]}
      clearable
      searchable
      value={logoDocumentID ? String(logoDocumentID) : null}
      onChange={(next) =>
        form.setFieldValue('issuer.logoDocumentID', next === null ? null : Number(next))
      }
    />
  )
}

function Letterhead({ form }: ProductPart) {
  const { issuer, name } = form.values
  const logo = useLogo(issuer.logoDocumentID)
  const lines = [issuer.phone, issuer.email, issuer.website].filter(Boolean)
  return (
    <figure className={classes.letter} aria-label="How a letter begins">
      <div className={classes.head} style={{ borderColor: issuer.accentColour || undefined }}>
        {logo && <img src={logo} alt="" className={classes.logo} />}
        <div>
          <Text fw={700} fz={16} style={{ color: issuer.accentColour || undefined }}>
            {issuer.name || name || 'The product'}
          </Text>
          {issuer.abn && <Text fz={11}>ABN {issuer.abn}</Text>}
          <Text fz={11} style={{ whiteSpace: 'pre-line' }}>
            {issuer.address}
          </Text>
        </div>
        <Text fz={11} ta="right" className={classes.lines}>
          {lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </Text>
      </div>
      <Text fz={15} fw={600} mt="md" style={{ color: issuer.accentColour || undefined }}>
        Holding statement
      </Text>
      <Text fz={11}>{name}</Text>
    </figure>
  )
}

function useLogo(documentID: number | null): string | undefined {
  const [url, setUrl] = useState<string>()
  const { data } = useQuery({
    queryKey: ['logo', documentID],
    enabled: documentID !== null,
    queryFn: () => api.file('/Document/File', { DocumentID: documentID }),
  })
  useEffect(() => {
    if (!data || documentID === null) return setUrl(undefined)
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data, documentID])
  return url
}
