import { Button } from '@mantine/core'
import { useState } from 'react'
import { useProductNames } from '../shared/api/products.ts'
import type { ApprovalRule } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { count, money } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { RuleForm } from './RuleForm.tsx'
import { resourceName } from './words.ts'

/** The rules for changes that wait until somebody else has approved them. */
export function Rules() {
  const [opened, setOpened] = useState<ApprovalRule | 'new'>()
  const close = () => setOpened(undefined)
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpened('new')}>
      New rule
    </Button>
  )
  return (
    <Page title="Approval rules" actions={add}>
      <ListView<ApprovalRule>
        id="approval-rules"
        label="Approval rules"
        path="/ApprovalRule"
        params={{}}
        filters={[]}
        columns={columnsWith(useProductNames())}
        onOpen={setOpened}
        empty={
          <Empty title="No change waits for approval">
            A rule lets changes wait until another user approves them: of bank details, for
            instance, or redemptions from an amount on.
          </Empty>
        }
      />
      <FormDrawer
        opened={opened !== undefined}
        onClose={close}
        title={opened === 'new' ? 'New rule' : 'Rule'}
      >
        {opened === 'new' && <RuleForm onDone={close} />}
        {opened && opened !== 'new' && (
          <Edited<ApprovalRule>
            path="/ApprovalRule"
            params={{ ApprovalRuleID: opened.approvalRuleID }}
          >
            {(tagged) => <RuleForm tagged={tagged} onDone={close} />}
          </Edited>
        )}
      </FormDrawer>
    </Page>
  )
}

/** The decimals of a rule's amount, which has no currency. */
const usualPlaces = 2

type Names = ReturnType<typeof useProductNames>

const columnsWith = (names: Names): Column<ApprovalRule>[] => [
  {
    id: 'what',
    title: 'What waits',
    text: ({ operation, resource }) => (operation ? deedOf(operation) : resourceName(resource)),
    width: 'minmax(220px, 2fr)',
  },
  {
    id: 'fields',
    title: 'Where it changes',
    text: ({ fields }) => fields?.join(', ') ?? 'Anything',
    width: 'minmax(140px, 1.5fr)',
  },
  {
    id: 'amount',
    title: 'From an amount of',
    right: true,
    text: (row) => money(row.minimumAmount, usualPlaces) || 'any',
    width: 'minmax(130px, 1fr)',
  },
  {
    id: 'products',
    title: 'Products',
    text: ({ productIDs }) => names(productIDs),
  },
  {
    id: 'approvals',
    title: 'Approvals needed',
    right: true,
    text: (row) => count(row.requiredApprovals ?? 1),
    width: 'minmax(130px, 1fr)',
  },
  {
    id: 'state',
    title: 'State',
    text: ({ isActive }) => (isActive ? 'Active' : 'Inactive'),
    cell: ({ isActive }) => <Active on={isActive} />,
    width: '100px',
  },
]
