import { Select, type SelectProps, TextInput, type TextInputProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type Category, useLookups } from '../api/lookups.ts'
import { useInvestments } from '../api/products.ts'
import { ungrouped } from '../decimal.ts'
import { beside } from '../format.ts'
import classes from './form.module.css'

type DecimalProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value?: string
  onChange?: (value: string) => void
}

/**
 * A field for an exact figure, as text. Thousands separators are removed from the value that is
 * sent, and from the text once the field loses the focus. While the user types, the text may still
 * become something else: 1,234 may be the start of 1,2345, which is not a figure.
 */
export function DecimalField({ value, onChange, onBlur, ...props }: DecimalProps) {
  const [text, setText] = useState<string>()
  const isTyped = text !== undefined && ungrouped(text) === value
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      classNames={{ input: classes.decimal }}
      {...props}
      value={isTyped ? text : (value ?? '')}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        onChange?.(ungrouped(currentTarget.value))
      }}
      onBlur={(event) => {
        setText(undefined)
        onBlur?.(event)
      }}
    />
  )
}

/**
 * Limits years to four digits: the browser would accept a fifth, and would read 26 as the year 26,
 * in which a hold is long over.
 */
export const years = { min: '1800-01-01', max: '9999-12-31' }

export const DateField = (props: TextInputProps) => <TextInput type="date" {...years} {...props} />

type ChoiceProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  value?: number | null | undefined
  onChange?: (value: number | null) => void
}

const numbered = ({ value, onChange, ...rest }: ChoiceProps) => ({
  ...rest,
  value: value ? String(value) : null,
  onChange: (next: string | null) => onChange?.(next === null ? null : Number(next)),
})

/** A field for a value of a lookup category. */
export function LookupField({ category, ...props }: ChoiceProps & { category: Category }) {
  const { options } = useLookups()
  return (
    <Select data={options(category)} searchable clearable={!props.required} {...numbered(props)} />
  )
}

/** A field for a country or a state, by its code. */
export function CodeField({ category, ...props }: SelectProps & { category: Category }) {
  const { codes } = useLookups()
  return <Select searchable clearable {...props} data={codes(category)} />
}

/** A field for a class of the product. */
export function ClassField({ onlyActive, ...props }: ChoiceProps & { onlyActive?: boolean }) {
  const data = useInvestments()
    .filter(({ isActive }) => !onlyActive || isActive)
    .map(({ investmentID, securityCode, name }) => ({
      value: String(investmentID),
      label: beside([securityCode, name]),
    }))
  return (
    <Select
      data={data}
      searchable
      nothingFoundMessage={
        data.length === 0 ? 'No class yet: make one under Classes and prices.' : 'No such class'
      }
      {...numbered(props)}
    />
  )
}

/** Fields side by side, as many as fit. */
export const Row = ({ children, narrow }: { children: ReactNode; narrow?: boolean }) => (
  <div className={narrow ? classes.narrow : classes.row}>{children}</div>
)
