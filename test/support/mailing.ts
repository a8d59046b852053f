import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { until } from './process.ts'
import { order } from './reports.ts'
import type { Service } from './service.ts'
import { investor, quoted, type TaxingFund, taxingFund } from './withholding.ts'

/** A letter that the mail server received. */
export type Mail = { to: string; text: string }

const refusal = (words: string, responseCode: number) =>
  Object.assign(new Error(words), { responseCode })

/** Starts a mail server that keeps all letters, and fails in the ways that a test asks for. */
export async function startMail() {
  const inbox: Mail[] = []
  /** Addresses that the server refuses for good (`bounces`), and for now (`later`). */
  const bounces = new Set(['bounce@example.com'])
  const later = new Set<string>()
  /** Addresses for which the server closes the connection once it has the letter. */
  const lost = new Set<string>()
  /** Addresses for which the server does not answer before the promise resolves. */
  const slow = new Map<string, Promise<void>>()
  const sockets = new Map<number | undefined, Socket>()
  let [busy, wary] = [0, 0]
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, callback) => {
      if (wary-- > 0) return callback(refusal('Sender not allowed', 550))
      return callback(busy-- > 0 ? refusal('Busy', 451) : null)
    },
    onRcptTo: ({ address }, _session, callback) => {
      if (bounces.has(address)) return callback(refusal('No such mailbox', 550))
      return later.has(address) ? callback(refusal('Greylisted', 450)) : callback()
    },
    onData: (stream, session, callback) => {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join()
        inbox.push({ to, text: Buffer.concat(pieces).toString() })
        if (lost.has(to)) return sockets.get(session.remotePort)?.destroy()
        void (slow.get(to) ?? Promise.resolve()).then(() => callback())
      })
    },
  })
  server.server.on('connection', (socket: Socket) => sockets.set(socket.remotePort, socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    inbox,
    bounces,
    later,
    lost,
    /** Refuses the sender for good, so many times. */
    beWary: (times: number) => {
      wary = times
    },
    /** Answers that it is busy, so many times. */
    beBusy: (times: number) => {
      busy = times
    },
    /** Holds letters to an address back, until the returned function is called. */
    hold: (address: string): (() => void) => {
      let letGo = () => {}
      const held = new Promise<void>((resolve) => {
        letGo = resolve
      })
      slow.set(address, held)
      return () => {
        slow.delete(address)
        letGo()
      }
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** A fund whose holders cover every communication preference, and some without a usable address. */
export async function mailedFund(service: Service): Promise<TaxingFund> {
  const issuer = { name: 'Example Funds', email: 'registry@example.com' }
  const fund = await taxingFund(service, { issuer })
  const holder = (email: string | null, communicationPreferenceID?: number) =>
    investor(service, fund, [quoted], {
      name: email ?? 'Nobody',
      communicationPreferenceID,
      communications: email ? [{ communicationTypeID: 1, name: email }] : [],
    })
  await holder('ann@example.com', 1)
  await holder('bounce@example.com')
  await holder('paper@example.com', 2)
  await holder(null)
  await holder('ben@example.com', 3)
  return fund
}

export type Delivery = { name: string; state: string; reason: string | null }

/** Functions that make and send the investor statements of a fund, and read their deliveries. */
export function mailingOf({ admin }: Service, { productID }: TaxingFund) {
  const deliveries = async (reportID: number): Promise<Delivery[]> =>
    (await admin.get(`/Report/Delivery?ReportID=${reportID}`)).data
  return {
    deliveries,
    statements: async (): Promise<number> => {
      const period = { fromDate: '2024-01-01', toDate: '2024-12-31' }
      return (await order(admin, { reportTypeID: 15, productID, format: 'zip', ...period }))
        .reportID
    },
    send: (reportID: number, more: object = {}) =>
      admin.post('/Report/Send', { reportID, ...more }),
    settled: (reportID: number) =>
      until('all to be sent', async () => {
        const rows = await deliveries(reportID)
        return rows.some(({ state }) => ['Queued', 'Sending'].includes(state)) ? undefined : rows
      }),
  }
}
