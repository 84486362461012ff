/**
 * A name as node:crypto gives it (a line for each part, in the order of the certificate, escaped by RFC 2253) as one
 * line in the order of RFC 4514: the most specific part first, "CN=client, O=Company, C=LT".
 */
export function toDistinguishedName(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .reverse()
    .join(', ');
}
