import type { Permission } from '../../src/platform/permission.ts'
import { useSession } from './api/session.ts'

export type { Permission }

/** What the page hides; the service decides all the same. */
export function useMay() {
  const { user } = useSession()
  return (permission: Permission | null) =>
    permission === null || (user?.permissions.includes(permission) ?? false)
}
