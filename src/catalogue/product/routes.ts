import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { createProduct, type Surroundings, updateProduct } from './save.ts'
import {
  Product,
  ProductInput,
  ProductKey,
  ProductQuery,
  ProductUpdate,
  productParameter,
} from './schema.ts'
import { deleteProduct, readProducts } from './sql.ts'

export const productEndpoints = (surroundings: Surroundings) => [
  reading({
    operation: 'GET /Product',
    access: 'Product.Read',
    summary: 'Read one product, or list all products page by page.',
    query: ProductQuery,
    data: arrayOf(Product),
    etag: { by: productParameter.fields },
    read: ({ query, actor }, handle) => readProducts(handle, actor, query),
  }),
  writing({
    operation: 'POST /Product',
    access: 'Product.Write',
    summary: 'Create a product.',
    resource: 'Product',
    body: ProductInput,
    data: arrayOf(Product),
    write: ({ body, actor }, tx) => createProduct(tx, actor, surroundings.timeZone, body),
  }),
  writing({
    operation: 'PUT /Product',
    access: 'Product.Write',
    summary:
      'Replace a product. If timeZone or one of the fields after it is left out, that field ' +
      'keeps its value.',
    resource: 'Product',
    body: ProductUpdate,
    data: arrayOf(Product),
    write: ({ body, actor }, tx) => updateProduct(tx, actor, surroundings, body),
  }),
  writing({
    operation: 'DELETE /Product',
    access: 'Product.Write',
    summary: 'Delete a product that nothing refers to.',
    resource: 'Product',
    query: ProductKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteProduct(tx, actor, query),
  }),
]
