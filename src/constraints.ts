import type { Problem } from './refusal.ts'

/** What a broken database constraint means to a caller, by the constraint's name. */
export const constraints: Record<string, Problem & { status: 400 | 409 }> = {
  product_external_id_unique: {
    status: 409,
    code: 'duplicate',
    field: 'externalProductId',
    message: 'Another product has this externalProductId.',
  },
  product_has_users: {
    status: 409,
    code: 'in_use',
    message: 'The product is in the scope of a user; change that user first.',
  },
  app_user_username_unique: {
    status: 409,
    code: 'duplicate',
    field: 'username',
    message: 'Another user has this username.',
  },
}
