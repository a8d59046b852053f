/** An address with filters, as links take it: the path and what stands behind the question mark. */
export function linkTo(address: string) {
  const [to = '', query = ''] = address.split(/\?(.*)/)
  return { to, search: Object.fromEntries(new URLSearchParams(query)) as never }
}
