/** Additions to the reference page: the name, signing in, and a question before a write. */

export const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="260" height="40">
<rect x="2" y="6" width="28" height="28" rx="6" fill="#2f6fab"/>
<path d="M9 13h14M9 20h14M9 27h9" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>
<text x="40" y="27" font-family="system-ui, sans-serif" font-size="19" font-weight="600"
 fill="#fff">Registry Platform</text></svg>`

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="2" y="2" width="28" height="28" rx="6" fill="#2f6fab"/>
<path d="M9 10h14M9 16h14M9 22h9" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>`

export const style = `
.swagger-ui .topbar .download-url-wrapper, .swagger-ui .scheme-container,
.swagger-ui .authorization__btn {
  display: none }
#sign-in { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 10px 20px;
  font: 14px system-ui, sans-serif; color: #1b2733; background: #e6ecf2 }
#sign-in input, #sign-in button { font: inherit; padding: 5px 9px; border: 1px solid #8795a3;
  border-radius: 4px; background: #fff; color: inherit }
#sign-in button { background: #1f4e79; border-color: #1f4e79; color: #fff; cursor: pointer }
#sign-in [role=status] { flex: 1 1 12em }
`

/**
 * A sign-in bar; its tokens last as long as the browser tab, also across reloads. Calls from the
 * page carry the token. Writes are sent only after the reader confirms, because an example would
 * otherwise be written as it stands.
 */
export const script = `
(() => {
  const kept = 'registry-session'
  const plainFetch = window.fetch.bind(window)
  const read = () => JSON.parse(sessionStorage.getItem(kept) || 'null')
  const keep = (username, { accessToken, refreshToken, expiresIn }) =>
    sessionStorage.setItem(kept, JSON.stringify({ username, accessToken, refreshToken,
      until: Date.now() + (expiresIn - 60) * 1000 }))
  const ask = async (path, body) => {
    const answer = await plainFetch(path, { method: 'POST', body: JSON.stringify(body),
      headers: { Version: '2.0', 'Content-Type': 'application/json' } })
    const { result, data, message, errors } = await answer.json()
    if (!result) throw Object.assign(new Error(message), { code: errors?.[0]?.code })
    return data
  }
  const token = async () => {
    const session = read()
    if (!session) return undefined
    if (session.until > Date.now()) return session.accessToken
    try {
      const { username, refreshToken } = session
      keep(username, await ask('/User/RefreshToken', { refreshToken }))
    } catch {
      sessionStorage.removeItem(kept)
      show('The session has ended: sign in again.')
    }
    return read()?.accessToken
  }
  window.fetch = async (input, options = {}) => {
    const { pathname, origin } = new URL(input.url || input, location.href)
    const isOurs = origin === location.origin && !pathname.startsWith('/docs')
    if (!isOurs) return plainFetch(input, options)
    const method = (options.method || input.method || 'GET').toUpperCase()
    if (method !== 'GET' && !/^\\/User\\/(Login|RefreshToken)$/i.test(pathname) &&
      !confirm(method + ' ' + pathname + ' writes to this registry. Send it?'))
      throw new Error('It was not sent.')
    const headers = new Headers(options.headers || input.headers)
    const own = await token()
    if (own && !headers.has('Authorization')) headers.set('Authorization', own)
    if (!headers.has('Version')) headers.set('Version', '2.0')
    return plainFetch(input, { ...options, headers })
  }
  const bar = document.createElement('form')
  bar.id = 'sign-in'
  const field = (name, label, type, autocomplete) => {
    const input = document.createElement('input')
    Object.assign(input, { name, placeholder: label, ariaLabel: label, type, autocomplete })
    return input
  }
  const button = (text) => Object.assign(document.createElement('button'), { textContent: text })
  const show = (words = '') => {
    const session = read()
    const status = document.createElement('span')
    status.setAttribute('role', 'status')
    status.textContent = words || (session ? 'Signed in as ' + session.username + '.' : '')
    bar.replaceChildren(...(session ? [status, button('Sign out')] : [
      field('username', 'Username', 'text', 'username'),
      field('password', 'Password', 'password', 'current-password'),
      field('code', 'Code, if you use one', 'text', 'one-time-code'),
      button('Sign in'), status]))
  }
  bar.addEventListener('submit', async (event) => {
    event.preventDefault()
    const session = read()
    if (session) {
      sessionStorage.removeItem(kept)
      show()
      await plainFetch('/User/Logout', { method: 'POST', headers: { Version: '2.0',
        Authorization: session.accessToken } }).catch(() => {})
      return
    }
    const { username, password, code } = Object.fromEntries(new FormData(bar))
    try {
      keep(username, await ask('/User/Login', { username, password, ...(code && { code }) }))
      show()
    } catch (error) {
      show(error.message)
    }
  })
  show()
  document.body.prepend(bar)
})()
`
