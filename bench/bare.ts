import { spawn } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { answering, databaseURL, type Service, stopped } from './service.ts'

/** The bare server's own tables: the key that upserts of holdings need, and two other indexes. */
export const tables = `
  create schema bare;
  create table bare.transaction (
    transaction_id bigint generated always as identity primary key,
    account_id integer not null, investment_id integer not null,
    transaction_date date not null, price numeric not null, amount numeric not null,
    quantity numeric not null, created_date timestamptz not null default now());
  create index on bare.transaction (account_id, investment_id, transaction_date);
  create table bare.holding (
    account_id integer not null, investment_id integer not null, quantity numeric not null,
    amount numeric not null, primary key (account_id, investment_id)) with (fillfactor = 80);
  create table bare.audit (
    username text not null, operation text not null, transaction_id bigint not null,
    changes json not null, occurred_date timestamptz not null default now())`

/**
 * Runs the bare server (bare.mjs) beside the service, on the same database. It is what somebody
 * writes in an afternoon who leaves out every rule, and it answers the calls of a load as the
 * service does.
 */
export async function besideBare<T>(service: Service, use: (bare: Service) => Promise<T>) {
  await administer(service, tables)
  const port = Number(new URL(service.url).port) + 2
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      BARE_PORT: String(port),
      DATABASE_URL: databaseURL(service.connection),
    },
  })
  try {
    const url = `http://127.0.0.1:${port}`
    await answering(url, child)
    return await use({ ...service, url, pids: () => [child.pid!] })
  } finally {
    await stopped(child)
    await administer(service, 'drop schema bare cascade')
  }
}

async function administer({ connection }: Service, statement: string) {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
