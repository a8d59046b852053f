import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './console.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Gate } from './frame/Gate.tsx'
import { router } from './router.tsx'
import { RegistryError } from './shared/api/error.ts'
import { lookupQuery } from './shared/api/lookups.ts'
import { productQuery } from './shared/api/products.ts'
import type { User } from './shared/api/session.ts'
import { mayOf } from './shared/permission.ts'
import { lightOnPaper, theme } from './theme.ts'

/**
 * Retries only requests that may have failed for the connection; a refusal would only be repeated.
 */
const mayPass = (error: Error) =>
  error instanceof RegistryError && (error.status === 0 || error.status === 503)

const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 15_000, retry: (tries, error) => tries < 2 && mayPass(error) },
    mutations: { retry: (tries, error) => tries < 2 && mayPass(error) },
  },
})

/**
 * A read that fails here fails again in the component that shows it, which then reports the error.
 */
const prepare = (user: User) =>
  Promise.allSettled([
    queries.ensureQueryData(lookupQuery),
    queries.ensureQueryData(productQuery(mayOf(user)('Product.Read'))),
    router.load(),
  ])

lightOnPaper()
const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <Notifications position="bottom-right" />
        <QueryClientProvider client={queries}>
          <Gate prepare={prepare}>
            <RouterProvider router={router} />
          </Gate>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
