const mailbox = /^[^@\s\p{Cc}<>()[\]\\,;:"]+@[^@\s\p{Cc}<>()[\]\\,;:"]+$/u

/**
 * Whether a text is the address of one mailbox: of "boss<a@b>" or "c,a@b" mail programs would write
 * to a@b. Only a sent message shows whether the mailbox exists.
 */
export const isMailbox = (text: string) => text.length <= 254 && mailbox.test(text)
export const mailboxWords = 'must be one e-mail address of at most 254 characters, and nothing else'
