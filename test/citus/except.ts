/**
 * Test files that `npm run test:citus` leaves out, and why. All others use a service on the
 * cluster, or need no database and are quick.
 */
const reasons: Record<string, readonly string[]> = {
  'reads the code or its papers, and asks no database': [
    'tidy.test.ts',
    'supply-chain.test.ts',
    'golden/golden.test.ts',
    'console/*',
    'money/payment-file.test.ts',
    'platform/config.test.ts',
    'platform/etag.test.ts',
    'platform/generated-clients.test.ts',
    'platform/json.test.ts',
    'platform/lookup-ids.test.ts',
    'platform/turns.test.ts',
  ],
  'is about the embedded database, or starts servers of its own': [
    'crash.test.ts', // of a cluster: test/citus/kills.ts, which runs after the files
    'faults.test.ts',
    'readme.test.ts',
    'operations/demo.test.ts',
    'operations/start.test.ts',
    'operations/start-elsewhere.test.ts',
    'platform/database.test.ts',
    'platform/embedded.test.ts',
    'platform/readers.test.ts',
  ],
  'makes databases of its own on one server, by the migrations': [
    'operations/backup.test.ts',
    'operations/backup-store.test.ts',
    'operations/distribute.test.ts',
    'platform/add-a-field.test.ts',
    'platform/migrate.test.ts',
    'platform/schema-rules.test.ts',
  ],
  'bends tables under a check of verify, which on Citus looks at copies of them': [
    'operations/verify.test.ts', // that verify finds something there: test/citus/backup.ts
    'operations/verify-payment.test.ts',
  ],
  'is about the plans or the marks of one server': [
    'access/approval-plans.test.ts',
    'ledger/ledger-plans.test.ts',
    'ledger/long-history.test.ts',
    'ledger/long-history-classes.test.ts',
    'money/stage-plans.test.ts',
    'parties/investor-plans.test.ts',
    'records/report-plans.test.ts',
  ],
}

/** Why a file, by its name below test/, is left out; undefined if it is run. */
export function exceptionFor(name: string): string | undefined {
  const isNamed = (pattern: string) =>
    pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
  return Object.keys(reasons).find((reason) => reasons[reason]!.some(isNamed))
}
