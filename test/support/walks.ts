/** A factor for the length of random walks: 1 in `npm test`; `npm run test:walks` sets more. */
export const walks = Number(process.env.REGISTRY_TEST_WALKS ?? 1)
