/** True if a text has more than 4 digits: it may be an IBAN, an id or an amount. */
export const hasManyDigits = (text: string): boolean => /(?:\d\D*){5}/.test(text);
