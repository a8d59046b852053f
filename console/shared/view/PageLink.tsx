import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { neededAt } from '../../frame/pages.ts'
import { linkTo } from '../link.ts'
import { useMay } from '../permission.ts'

type Props = AnchorProps & { to: string; children: ReactNode; 'aria-label'?: string }

/** A link to a page; only its text for users who may not see that page. */
export function PageLink({ to, children, ...anchor }: Props) {
  const may = useMay()
  if (!may(neededAt(to))) return children
  return (
    <Anchor component={Link} inherit {...anchor} {...linkTo(to)}>
      {children}
    </Anchor>
  )
}
