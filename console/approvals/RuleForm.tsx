import {
  Button,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useProductOptions } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { ApprovalRule } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DecimalField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { resourceName, resourceOptions } from './words.ts'

type Props = { tagged?: Tagged<ApprovalRule>; onDone: () => void }

/** The subject of a rule is set once, on creation; how strict the rule is can be changed later. */
export function RuleForm({ tagged, onDone }: Props) {
  const rule = tagged?.record
  const [about, setAbout] = useState('resource')
  const form = useForm({
    initialValues: {
      resource: 'PaymentDetail' as string | null,
      operation: null as string | null,
      fields: rule?.fields ?? [],
      minimumAmount: rule?.minimumAmount ?? '',
      productIDs: (rule?.productIDs ?? []).map(String),
      requiredApprovals: rule?.requiredApprovals ?? 1,
      isActive: rule?.isActive ?? true,
    },
  })
  const save = useWrite<ApprovalRule[]>(rule ? 'put' : 'post', '/ApprovalRule', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone(rule ? 'The rule is saved.' : 'From now on such changes wait.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const submit = form.onSubmit(({ resource, operation, fields, productIDs, ...rest }) => {
    const what = about === 'resource' ? { resource } : { operation }
    const lists = {
      fields: fields.length > 0 ? fields : null,
      productIDs: productIDs.length > 0 ? productIDs.map(Number) : null,
    }
    // A condition left empty always holds. Empty values are sent only for an existing rule, to
    // clear them.
    const said = Object.entries({ ...rest, ...lists }).filter(([, value]) => rule || isSaid(value))
    save.mutate({
      ...(rule ? { approvalRuleID: rule.approvalRuleID } : what),
      ...Object.fromEntries(said),
    })
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        {rule ? (
          <Facts facts={[['What waits', rule.operation ?? resourceName(rule.resource)]]} />
        ) : (
          <What form={form} about={about} onAbout={setAbout} />
        )}
        <Strictness form={form} />
        <Group justify="space-between" mt="xs">
          {rule ? (
            <Remove
              path="/ApprovalRule"
              params={{ ApprovalRuleID: rule.approvalRuleID ?? 0 }}
              what="the rule"
              done="Such changes are made at once again."
              onDone={onDone}
            >
              Such changes are then made at once. Those that wait already keep waiting.
            </Remove>
          ) : (
            <span />
          )}
          <Button type="submit" loading={save.isPending}>
            {rule ? 'Save' : 'Make the rule'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const isSaid = (value: unknown) => value !== null && value !== ''

type Values = {
  resource: string | null
  operation: string | null
  fields: string[]
  minimumAmount: string
  productIDs: string[]
  requiredApprovals: number
  isActive: boolean
}
type Part = { form: ReturnType<typeof useForm<Values>> }

function What({ form, about, onAbout }: Part & { about: string; onAbout: (next: string) => void }) {
  const operations = useOperations(about === 'operation')
  return (
    <>
      <SegmentedControl
        aria-label="What the rule is about"
        value={about}
        onChange={onAbout}
        data={[
          { value: 'resource', label: 'Any change of' },
          { value: 'operation', label: 'One operation' },
        ]}
      />
      {about === 'resource' ? (
        <Select
          label="Records"
          data={resourceOptions}
          searchable
          required
          allowDeselect={false}
          {...form.getInputProps('resource')}
        />
      ) : (
        <Select
          label="Operation"
          description="As the reference of the API names it."
          placeholder="POST /BizTransaction/Redemption"
          data={operations}
          searchable
          required
          {...form.getInputProps('operation')}
        />
      )}
    </>
  )
}

/** The write operations of the API, from its OpenAPI document. */
function useOperations(wanted: boolean): string[] {
  const { data = [] } = useQuery({
    queryKey: ['operations'],
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const { paths } = (await (await fetch('/openapi.json')).json()) as {
        paths: Record<string, object>
      }
      return Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods)
          .filter((method) => method !== 'get' && !path.startsWith('/Approval/'))
          .map((method) => `${method.toUpperCase()} ${path}`),
      )
    },
  })
  return data
}

const Strictness = ({ form }: Part) => (
  <>
    <TagsInput
      label="Only where one of these fields changes"
      description="By their names in the API; empty: whatever changes."
      placeholder={form.values.fields.length > 0 ? '' : 'bsb, accountNumber'}
      {...form.getInputProps('fields')}
    />
    <DecimalField
      label="Only from an amount of"
      placeholder="any amount"
      {...form.getInputProps('minimumAmount')}
    />
    <MultiSelect
      label="Products"
      placeholder={form.values.productIDs.length > 0 ? '' : 'All'}
      data={useProductOptions()}
      searchable
      {...form.getInputProps('productIDs')}
    />
    <NumberInput
      label="Approvals needed"
      description="Of others than who asks."
      min={1}
      max={10}
      {...form.getInputProps('requiredApprovals')}
    />
    <Switch label="Active" {...form.getInputProps('isActive', { type: 'checkbox' })} />
  </>
)
