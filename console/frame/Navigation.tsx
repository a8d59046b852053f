import {
  Group,
  Menu,
  ScrollArea,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import mark from '../mark.svg'
import { useProducts } from '../shared/api/products.ts'
import { signOut, useSession } from '../shared/api/session.ts'
import type { Product } from '../shared/api/types.ts'
import { useMay } from '../shared/permission.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { type Area, areas, settings } from './areas.ts'
import classes from './frame.module.css'

type Props = { product: Product | undefined; onClose: () => void }

export function Navigation({ product, onClose }: Props) {
  const may = useMay()
  const base = product ? `/${product.productID}` : undefined
  return (
    <>
      <Switcher product={product} />
      <ScrollArea flex={1}>
        <nav aria-label="Areas">
          {base !== undefined &&
            areas
              .filter(({ needs }) => may(needs))
              .map((area) => (
                <Item key={area.path} area={area} to={base + area.path} onClick={onClose} />
              ))}
          {settings.some(({ needs }) => may(needs)) && (
            <div className={classes.group}>Settings</div>
          )}
          {settings
            .filter(({ needs }) => may(needs))
            .map((area) => (
              <Item key={area.path} area={area} to={area.path} onClick={onClose} />
            ))}
        </nav>
      </ScrollArea>
      <UserMenu />
    </>
  )
}

type ItemProps = { area: Area; to: string; onClick: () => void }

const Item = ({ area, to, onClick }: ItemProps) => (
  <Link
    to={to}
    className={classes.item}
    onClick={onClick}
    activeOptions={{ exact: area.path === '', includeSearch: false }}
  >
    <Icon name={area.icon} />
    {area.label}
  </Link>
)

/** The area of a path within its product: the path of the list, without the id of a record. */
const areaOf = (path: string) => {
  const [, area = ''] = /^\/(?:console\/)?\d+(\/[^/]+)/.exec(path) ?? []
  return areas.some((one) => one.path === area) ? area : ''
}

/** Switches the product and stays in the same area. */
function Switcher({ product }: { product: Product | undefined }) {
  const products = useProducts()
  const navigate = useNavigate()
  const may = useMay()
  const area = useRouterState({ select: ({ location }) => areaOf(location.pathname) })
  return (
    <Menu position="bottom-start" width={260} shadow="md">
      <Menu.Target>
        <UnstyledButton className={classes.switcher} title="Switch product">
          <img src={mark} width={26} height={26} alt="" />
          <div style={{ minWidth: 0, flex: 1 }}>
            <Text size="sm" fw={600} lh={1.25} lineClamp={2}>
              {product?.name ?? 'Registry'}
            </Text>
            <Text size="xs" className="quiet" truncate>
              {product?.externalProductId ?? (product ? `Product ${product.productID}` : '')}
            </Text>
          </div>
          <Icon name="down" size={16} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={classes.products}>
        {products.map(({ productID, name }) => (
          <Menu.Item
            key={productID}
            rightSection={productID === product?.productID && <Icon name="check" size={14} />}
            onClick={() => void navigate({ to: `/${productID}${area}` })}
          >
            {name}
          </Menu.Item>
        ))}
        {products.length === 0 && <Menu.Label>There is no product you may see.</Menu.Label>}
        {may('Product.Read') && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => void navigate({ to: '/settings/products' })}>
              All products
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function UserMenu() {
  const navigate = useNavigate()
  const { user } = useSession()
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  return (
    <Menu position="top-start" width={212} shadow="md">
      <Menu.Target>
        <UnstyledButton className={classes.user}>
          <Group gap={10} wrap="nowrap">
            <Icon name="user" />
            <Text size="sm" truncate>
              {user?.username}
            </Text>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name={dark ? 'sun' : 'moon'} size={16} />}
          onClick={() => setColorScheme(dark ? 'light' : 'dark')}
        >
          {dark ? 'Light' : 'Dark'} appearance
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="lock" size={16} />}
          onClick={() => void navigate({ to: '/settings/account' })}
        >
          Your account
        </Menu.Item>
        <Menu.Item component="a" href="/docs" leftSection={<Icon name="documents" size={16} />}>
          Reference of the API
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="leave" size={16} />}
          onClick={() => void signOut().catch(tellFailure)}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
