import { Select, type SelectProps, TextInput, type TextInputProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Category, useLookups } from '../api/lookups.ts'
import { useInvestments } from '../api/products.ts'
import { ungrouped } from '../decimal.ts'
import classes from './form.module.css'

/** An exact figure: typed and sent as text; what stands between thousands is dropped. */
export const DecimalField = ({ onChange, ...props }: TextInputProps) => (
  <TextInput
    inputMode="decimal"
    autoComplete="off"
    classNames={{ input: classes.decimal }}
    {...props}
    onChange={(event) => {
      event.currentTarget.value = ungrouped(event.currentTarget.value)
      onChange?.(event)
    }}
  />
)

export const DateField = (props: TextInputProps) => <TextInput type="date" {...props} />

type ChoiceProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  value?: number | null | undefined
  onChange?: (value: number | null) => void
}

const numbered = ({ value, onChange, ...rest }: ChoiceProps) => ({
  ...rest,
  value: value ? String(value) : null,
  onChange: (next: string | null) => onChange?.(next === null ? null : Number(next)),
})

/** One value of a lookup category. */
export function LookupField({ category, ...props }: ChoiceProps & { category: Category }) {
  const { options } = useLookups()
  return (
    <Select data={options(category)} searchable clearable={!props.required} {...numbered(props)} />
  )
}

/** A country or a state, by its code. */
export function CodeField({ category, ...props }: SelectProps & { category: Category }) {
  const { codes } = useLookups()
  return <Select searchable clearable {...props} data={codes(category)} />
}

/** One class of the product. */
export function ClassField({ onlyActive, ...props }: ChoiceProps & { onlyActive?: boolean }) {
  const data = useInvestments()
    .filter(({ isActive }) => !onlyActive || isActive)
    .map(({ investmentID, securityCode, name }) => ({
      value: String(investmentID),
      label: [securityCode, name].filter(Boolean).join(' · '),
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
