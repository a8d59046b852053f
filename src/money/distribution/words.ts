/** 1 account, 2 accounts */
export const accountsInWords = (count: number) => `${count} account${count === 1 ? '' : 's'}`
