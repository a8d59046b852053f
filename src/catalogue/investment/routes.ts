import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { readAffected } from './affected.ts'
import { AffectedQuery, AffectedTransaction } from './affected-schema.ts'
import { createPrices, deletePrice, readPrices, updatePrice } from './price.ts'
import { createInvestment, updateInvestment } from './save.ts'
import {
  Investment,
  InvestmentInput,
  InvestmentKey,
  InvestmentPrice,
  InvestmentQuery,
  InvestmentUpdate,
  investmentParameter,
  PriceInputs,
  PriceKey,
  PriceQuery,
  PriceUpdate,
} from './schema.ts'
import { deleteInvestment, readInvestments } from './sql.ts'

export const investmentEndpoints = [
  reading({
    operation: 'GET /Investment',
    access: 'Investment.Read',
    summary: 'Read one investment, or list all investments page by page.',
    query: InvestmentQuery,
    data: arrayOf(Investment),
    etag: { by: investmentParameter.fields },
    read: ({ query, actor }, handle) => readInvestments(handle, actor, query),
  }),
  writing({
    operation: 'POST /Investment',
    access: 'Investment.Write',
    summary: 'Create an investment (a unit or share class) in a product.',
    resource: 'Investment',
    body: InvestmentInput,
    data: arrayOf(Investment),
    write: ({ body, actor }, tx) => createInvestment(tx, actor, body),
  }),
  writing({
    operation: 'PUT /Investment',
    access: 'Investment.Write',
    summary: 'Replace an investment. isActive false closes it to new money.',
    resource: 'Investment',
    body: InvestmentUpdate,
    data: arrayOf(Investment),
    write: ({ body, actor }, tx) => updateInvestment(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /Investment',
    access: 'Investment.Write',
    summary: 'Delete an investment that has no prices and no history.',
    resource: 'Investment',
    query: InvestmentKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteInvestment(tx, actor, query),
  }),
  reading({
    operation: 'GET /Investment/Price',
    access: 'Investment.Read',
    summary: 'List prices.',
    query: PriceQuery,
    data: arrayOf(InvestmentPrice),
    etag: { by: ['InvestmentPriceID', 'PriceDate'] },
    read: ({ query, actor }, handle) => readPrices(handle, actor, query),
  }),
  reading({
    operation: 'GET /Investment/Price/Affected',
    access: 'BizTransaction.Read',
    summary: 'List the transactions that used a price, as it is or as it was before a correction.',
    query: AffectedQuery,
    data: arrayOf(AffectedTransaction),
    read: ({ query, actor }, handle) => readAffected(handle, actor, query),
  }),
  writing({
    operation: 'POST /Investment/Price',
    access: 'Investment.Write',
    summary: 'Add prices: one per investment and date.',
    resource: 'Investment',
    body: PriceInputs,
    data: arrayOf(InvestmentPrice),
    write: ({ body, pathOf, actor }, tx) => createPrices(tx, actor, body, pathOf),
  }),
  writing({
    operation: 'PUT /Investment/Price',
    access: 'Investment.Write',
    summary: 'Replace a price, named by its id or by investment and date.',
    resource: 'Investment',
    body: PriceUpdate,
    data: arrayOf(InvestmentPrice),
    write: ({ body, actor }, tx) => updatePrice(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /Investment/Price',
    access: 'Investment.Write',
    summary: 'Delete a price, named by its id or by investment and date.',
    resource: 'Investment',
    query: PriceKey,
    data: nothing,
    write: ({ query, actor }, tx) => deletePrice(tx, actor, query),
  }),
]
