import { arrayOf, reading, writing } from '../../platform/http/endpoint.ts'
import { cancelEvents } from './cancel.ts'
import { noticeOfConversion, noticeOfDeposit, noticeOfRedemption } from './notice.ts'
import {
  BizEvent,
  Cancel,
  EventQuery,
  NoticeOfConversion,
  NoticeOfDeposit,
  NoticeOfRedemption,
} from './schema.ts'
import { readEvents } from './sql.ts'

const notice = {
  access: 'BizEvent.Write',
  resource: 'BizEvent',
  data: arrayOf(BizEvent),
} as const

export const bizEventEndpoints = [
  reading({
    operation: 'GET /BizEvent',
    access: 'BizEvent.Read',
    summary: 'List notices.',
    query: EventQuery,
    data: arrayOf(BizEvent),
    read: ({ query, actor }, handle) => readEvents(handle, actor, query),
  }),
  writing({
    operation: 'POST /BizEvent/NoticeOfDeposit',
    event: 'bizevent.created',
    summary: 'Give notice of a deposit.',
    ...notice,
    body: NoticeOfDeposit,
    write: ({ body, actor }, tx) => noticeOfDeposit(tx, actor, body),
  }),
  writing({
    operation: 'POST /BizEvent/NoticeOfRedemption',
    event: 'bizevent.created',
    summary: 'Give notice of a redemption.',
    ...notice,
    body: NoticeOfRedemption,
    write: ({ body, actor }, tx) => noticeOfRedemption(tx, actor, body),
  }),
  writing({
    operation: 'POST /BizEvent/NoticeOfConversion',
    event: 'bizevent.created',
    summary: 'Give notice of a conversion. This creates two linked notices.',
    ...notice,
    body: NoticeOfConversion,
    write: ({ body, actor }, tx) => noticeOfConversion(tx, actor, body),
  }),
  writing({
    operation: 'PUT /BizEvent/Cancel',
    event: 'bizevent.cancelled',
    summary: 'Cancel pending notices.',
    ...notice,
    body: Cancel,
    write: ({ body, actor }, tx) => cancelEvents(tx, actor, body),
  }),
]
