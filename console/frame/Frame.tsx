import { ActionIcon, AppShell, Burger, Group, Kbd, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { Fragment, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { part } from '../shared/api/connection.ts'
import { useProducts } from '../shared/api/products.ts'
import { useSession } from '../shared/api/session.ts'
import { ClashDialog } from '../shared/form/ClashDialog.tsx'
import { beside } from '../shared/format.ts'
import { lackedBy } from '../shared/permission.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Loading, Missing } from '../shared/view/Page.tsx'
import { Connection } from './Connection.tsx'
import classes from './frame.module.css'
import { Keys, useKeys } from './Keys.tsx'
import { Navigation } from './Navigation.tsx'
import { Needs } from './Needs.tsx'
import { neededFor } from './pages.ts'
import { openSearch, Search } from './Search.tsx'
import { productOf } from './where.ts'

const noHelp = new Error('The help could not be loaded. Reload the page to read it.')

/**
 * The help and how to open it. Its texts are loaded only then; where they cannot be, the page with
 * what is typed in it stays.
 */
function useHelp() {
  const [opened, handle] = useDisclosure()
  const [loaded, setLoaded] = useState<typeof import('./Help.tsx')>()
  const open = async () => {
    try {
      setLoaded(await part(() => import('./Help.tsx')))
      handle.open()
    } catch {
      tellFailure(noHelp)
    }
  }
  return { Help: opened ? loaded?.Help : undefined, open, close: handle.close }
}

/** The frame around every page. */
export function Frame() {
  const [open, { toggle, close }] = useDisclosure()
  const [keys, keysHandle] = useDisclosure()
  const { Help, ...help } = useHelp()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const products = useProducts()
  const product = productOf(path, products)
  useKeys(product, keysHandle.open)
  const main = useMain()
  return (
    <AppShell
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !open } }}
      header={{ height: 48 }}
      padding="md"
      classNames={{ main: classes.main, navbar: classes.navbar, header: classes.header }}
      layout="alt"
    >
      <button type="button" className={classes.skip} onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
          <UnstyledButton className={classes.search} onClick={openSearch}>
            <Icon name="search" size={16} />
            <Text size="sm" className="quiet" flex={1} truncate>
              Search or go to…
            </Text>
            <Kbd visibleFrom="sm" size="xs">
              Ctrl K
            </Kbd>
          </UnstyledButton>
          <Needs product={product} />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Help"
            title="Help"
            onClick={() => void help.open()}
          >
            <Icon name="help" />
          </ActionIcon>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <Navigation product={product} onClose={close} />
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <Allowed>
            <Outlet />
          </Allowed>
        </Suspense>
      </AppShell.Main>
      <Search product={product} />
      <Connection />
      <ClashDialog />
      <Keys opened={keys} onClose={keysHandle.close} />
      {Help && <Help opened onClose={help.close} onKeys={keysHandle.open} />}
    </AppShell>
  )
}

/**
 * The element that scrolls. A page opened from a list row leaves the focus nowhere, since the row
 * is gone; so the focus moves to the page, where keys scroll it and a screen reader announces it.
 */
function useMain() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  const before = useRef(path)
  useEffect(() => {
    const last = before.current
    before.current = path
    if (last === undefined || last === path || document.activeElement !== document.body) return
    main.current?.focus({ preventScroll: true })
  }, [path])
  return main
}

/**
 * Shows a page whose product exists and that the user may see; otherwise tells what to do instead.
 */
function Allowed({ children }: { children: ReactNode }) {
  const params = useParams({ strict: false }) as { product?: string }
  const { product: slug } = params
  const route = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId ?? '' })
  const products = useProducts()
  const lacks = lackedBy(useSession().user, neededFor(route))
  const product = products.find(({ productID }) => String(productID) === slug)
  const page = [route, ...Object.values(params)].join(' ')
  const [seen, setSeen] = useState('')
  if (lacks.length === 0 && seen !== page) setSeen(page)
  const [known, setKnown] = useState(product)
  if (product && product !== known) setKnown(product)
  if (slug && !product)
    return String(known?.productID) === slug ? (
      <Missing title={beside(['You may not see', known?.name, 'any more'], ' ')}>
        Your access to it ended while you were looking at it. Anything that you had not saved is
        lost. Choose another product, top left, or ask an administrator of the registry.
      </Missing>
    ) : (
      <Missing title="There is no such product">
        The address may be old, or you may not see the product. Choose another product, top left.
      </Missing>
    )
  // A user who loses the permission while filling in a form keeps the typed values; saving explains
  // why it fails.
  if (lacks.length > 0 && seen !== page)
    return (
      <Missing title="You may not see this page">
        It needs the permission {lacks.join(' and ')}. An administrator of the registry can give it
        to you.
      </Missing>
    )
  // The key remounts the page for another product or record, so that selections and open drawers do
  // not carry over.
  return (
    <Fragment key={Object.values(params).join('/')}>
      <div className={classes.paper}>{product?.name}</div>
      {children}
    </Fragment>
  )
}
