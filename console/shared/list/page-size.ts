/** Rows fetched at a time: more than a tall screen shows, and yet one short answer. */
export const pageSize = 100
