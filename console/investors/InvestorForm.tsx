import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useProduct, useReadNow } from '../shared/api/products.ts'
import { type Tagged, useTagged } from '../shared/api/tagged.ts'
import type { BizEntity } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { CodeField, DateField, DecimalField, LookupField, Row } from '../shared/form/fields.tsx'
import { Kinds } from '../shared/form/Kinds.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Missing, Page } from '../shared/view/Page.tsx'
import {
  asKind,
  blankAccount,
  blankInvestor,
  filled,
  formOf,
  type Guide,
  guides,
  type PartyForm,
  placeInForm,
  suggestedName,
  type InvestorForm as Values,
} from './blank.ts'

const firstKind = 'individual'

export function NewInvestor() {
  const { productID, slug } = useProduct()
  return (
    <Page title="New investor" back={{ to: `/${slug}/investors`, label: 'Investors' }} narrow>
      <Editor initial={blankInvestor(firstKind, productID)} />
    </Page>
  )
}

export function EditInvestor() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { productID, slug } = useProduct()
  const [found] = useReadNow<BizEntity[]>('/BizEntity', { ProductID: productID, BizEntityID: id })
  // An investor deleted while it is edited keeps the form open, so that no input is lost; saving
  // reports it.
  const [wasThere] = useState(found !== undefined)
  if (!wasThere)
    return (
      <Missing title="No such investor" back={{ to: `/${slug}/investors`, label: 'Investors' }}>
        They may be of another product, perhaps of one you may not see.
      </Missing>
    )
  return <Edit id={id} />
}

function Edit({ id }: { id: string }) {
  const { slug } = useProduct()
  const tagged = useTagged<BizEntity>('/BizEntity', { BizEntityID: id })
  const { name } = tagged.record
  return (
    <Page
      title={`Edit ${name}`}
      back={{ to: `/${slug}/investors/${id}`, label: name ?? 'Investor' }}
      narrow
    >
      <Editor initial={formOf(tagged.record)} tagged={tagged} />
    </Page>
  )
}

type Form = ReturnType<typeof useForm<Values>>

function Editor({ initial, tagged }: { initial: Values; tagged?: Tagged<BizEntity> }) {
  const known = tagged?.record
  const { slug } = useProduct()
  const form = useForm<Values>({ initialValues: initial })
  const [saved, leave] = useLeave()
  const leaveFor = (id: number | null | undefined) =>
    leave(`/${slug}/investors${id ? `/${id}` : ''}`)
  const save = useWrite<BizEntity[]>(known ? 'put' : 'post', '/BizEntity', {
    tagged,
    onDone: ([entity], message) => {
      tellDone(message || (known ? 'The investor is saved.' : 'The investor is on the register.'))
      leaveFor(entity?.bizEntityID)
    },
    onKept: () => leaveFor(known?.bizEntityID),
    placeOf: (path) => placeInForm(form.getValues(), path, known),
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const submit = form.onSubmit((values) => {
    const named = { ...values, name: values.name || suggestedName(values) }
    save.mutate(filled(named, known))
  })
  return (
    <form onSubmit={submit}>
      <LeaveGuard dirty={form.isDirty() && !saved} />
      <Stack>
        {!known && <KindOf form={form} onChange={save.reset} />}
        {save.error && <Failure error={save.error} />}
        {form.values.bizEntityParties.map((party, i) => (
          <PartyCard key={form.key(`bizEntityParties.${i}`)} form={form} party={party} place={i} />
        ))}
        <Registered form={form} />
        <Money form={form} />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending || saved}>
            {known ? 'Save' : 'Add to the register'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Asks for the kind of investor first, and then only for the fields of that kind. */
function KindOf({ form, onChange }: { form: Form; onChange: () => void }) {
  const { productID } = useProduct()
  const [guide, setGuide] = useState<Guide>(firstKind)
  const [left, setLeft] = useState<PartyForm[]>([])
  const choose = (next: Guide) => {
    const changed = asKind(form.values, next, left)
    setGuide(next)
    setLeft(changed.left)
    form.setValues(changed.values)
    form.resetDirty(blankInvestor(next, productID))
    form.clearErrors()
    onChange()
  }
  return (
    <Kinds
      label="Kind of investor"
      value={guide}
      onChange={(value) => choose(value as Guide)}
      data={guides.map(({ value, label }) => ({ value, label }))}
    />
  )
}

type PartyProps = { form: Form; party: Values['bizEntityParties'][number]; place: number }

function PartyCard({ form, party, place }: PartyProps) {
  const at = (field: string) => form.getInputProps(`bizEntityParties.${place}.${field}`)
  const holders = form.values.bizEntityParties.length
  if (party.organisation)
    return (
      <Card title="Organisation">
        <Stack gap="sm">
          <Row>
            <TextInput label="Name" required {...at('organisation.name')} />
            <TextInput label="ABN" placeholder="11 digits" {...at('organisation.abn')} />
            <TextInput label="ACN" placeholder="9 digits" {...at('organisation.acn')} />
          </Row>
          <Row>
            <TextInput label="Tax file number" {...at('organisation.taxationFileNumber')} />
            <Contacts at={(field) => at(`organisation.${field}`)} of={party.organisation} />
          </Row>
        </Stack>
      </Card>
    )
  if (!party.person) return null
  // A person stored with one name only can be saved with it.
  const isNew = !('personID' in party.person)
  return (
    <Card title={holders > 1 ? `Holder ${place + 1}` : 'Person'}>
      <Stack gap="sm">
        <Row narrow>
          <LookupField label="Title" category="Title" {...at('person.titleID')} />
          <TextInput label="First name" required={isNew} {...at('person.firstName')} />
          <TextInput label="Middle name" {...at('person.middleName')} />
          <TextInput label="Last name" required={isNew} {...at('person.lastName')} />
        </Row>
        <Row>
          <DateField label="Date of birth" {...at('person.dateOfBirth')} />
          <TextInput label="Tax file number" {...at('person.taxationFileNumber')} />
          <CodeField label="Tax country" category="Country" {...at('person.taxationCountryCode')} />
        </Row>
        <Row>
          <Contacts at={(field) => at(`person.${field}`)} of={party.person} />
        </Row>
      </Stack>
    </Card>
  )
}

type ContactProps = {
  at: (field: string) => object
  of: { communications: { communicationTypeID: number }[] }
}

const contactNames: Record<number, string> = {
  1: 'E-mail',
  2: 'Phone',
  3: 'Mobile',
  4: 'Fax',
  5: 'Website',
}

const Contacts = ({ at, of }: ContactProps) =>
  of.communications.map(({ communicationTypeID }, i) => (
    <TextInput
      // Contacts in a form are neither reordered nor removed.
      key={`${communicationTypeID}-${String(i)}`}
      label={contactNames[communicationTypeID] ?? 'Contact'}
      {...at(`communications.${i}.name`)}
    />
  ))

function Registered({ form }: { form: Form }) {
  return (
    <Card title="On the register">
      <Stack gap="sm">
        <Row>
          <TextInput
            label="Registered name"
            placeholder={suggestedName(form.values) || 'From the names above'}
            {...form.getInputProps('name')}
          />
          <TextInput label="External id" {...form.getInputProps('externalBizEntityId')} />
          <LookupField
            label="State"
            category="BizEntityStatus"
            required
            {...form.getInputProps('bizEntityStatusID')}
          />
        </Row>
        <Row>
          <LookupField
            label="Investor type"
            category="InvestorType"
            {...form.getInputProps('investorTypeID')}
          />
          <LookupField
            label="Source of funds"
            category="SourceOfFunds"
            {...form.getInputProps('sourceOfFundsID')}
          />
          <LookupField
            label="Correspondence"
            category="CommunicationPreference"
            {...form.getInputProps('communicationPreferenceID')}
          />
        </Row>
        {form.values.addresses.map((address, i) => (
          <Row key={form.key(`addresses.${i}`)} narrow>
            <TextInput
              label={address.addressTypeID === 8 ? 'Postal address' : 'Address'}
              {...form.getInputProps(`addresses.${i}.addressLine`)}
            />
            <TextInput label="Suburb" {...form.getInputProps(`addresses.${i}.suburb`)} />
            <CodeField
              label="State or territory"
              category="State"
              {...form.getInputProps(`addresses.${i}.stateCode`)}
            />
            <TextInput label="Postcode" {...form.getInputProps(`addresses.${i}.postcode`)} />
            <CodeField
              label="Country"
              category="Country"
              {...form.getInputProps(`addresses.${i}.countryCode`)}
            />
          </Row>
        ))}
      </Stack>
    </Card>
  )
}

function Money({ form }: { form: Form }) {
  const { productID } = useProduct()
  return (
    <Card title="Accounts and payments">
      <Stack gap="sm">
        {form.values.accounts.map(({ drpTypeID, ...account }, i) => (
          <Row key={form.key(`accounts.${i}`)}>
            <TextInput
              label="Account number"
              placeholder="The next free one"
              readOnly={'accountID' in account}
              {...form.getInputProps(`accounts.${i}.accountNumber`)}
            />
            <LookupField
              label="Account state"
              category="AccountStatus"
              required
              {...form.getInputProps(`accounts.${i}.accountStatusID`)}
            />
            <LookupField
              label="Reinvestment"
              category="DRPType"
              required
              {...form.getInputProps(`accounts.${i}.drpTypeID`)}
            />
            {(drpTypeID ?? 0) > 2 && (
              <DecimalField
                label={drpTypeID === 3 ? 'Percentage reinvested' : 'Units reinvested'}
                {...form.getInputProps(`accounts.${i}.drpValue`)}
              />
            )}
            {i > 0 && !('accountID' in account) && (
              <Button
                variant="default"
                mt="auto"
                onClick={() => form.removeListItem('accounts', i)}
              >
                Remove
              </Button>
            )}
          </Row>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => form.insertListItem('accounts', blankAccount(productID))}
          >
            Add an account
          </Button>
        </Group>
        {form.values.paymentDetails.map((_detail, i) => (
          <Row key={form.key(`paymentDetails.${i}`)}>
            <TextInput
              label="BSB"
              placeholder="062-000"
              {...form.getInputProps(`paymentDetails.${i}.bsb`)}
            />
            <TextInput
              label="Bank account number"
              {...form.getInputProps(`paymentDetails.${i}.accountNumber`)}
            />
            <TextInput
              label="Bank account name"
              {...form.getInputProps(`paymentDetails.${i}.accountName`)}
            />
          </Row>
        ))}
      </Stack>
    </Card>
  )
}
