/** Digits in groups of three, with a narrow no-break space. */
export const toGrouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** "1 account", "1 200 accounts". */
export const toAccounts = (count: number): string => `${toGrouped(count)} ${count === 1 ? 'account' : 'accounts'}`;
