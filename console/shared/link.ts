/** An address as links take it: the path, and the query as search parameters. */
export function linkTo(address: string) {
  const [to = '', query = ''] = address.split(/\?(.*)/)
  return { to, search: Object.fromEntries(new URLSearchParams(query)) as never }
}
