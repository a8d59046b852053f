/** How many times as far as in `npm test` the random walks go: `npm run test:walks` sets it. */
export const walks = Number(process.env.REGISTRY_TEST_WALKS ?? 1)
