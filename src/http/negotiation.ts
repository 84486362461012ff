import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { GatewayError } from '../problems/gateway-error.js';

export const HTML = 'text/html';
export const JSON_TYPE = 'application/json';

/** Maximum number of header characters that are read: Negotiator takes quadratic time. */
const MAX_HEADER_LENGTH = 1000;

/** The choice of `choose` for a request header, remembered for the 200 headers seen most recently. */
export function byHeader<T extends NonNullable<unknown>>(
  choose: (header: string | undefined) => T,
): (header: string | undefined) => T {
  const known = new LRUCache<string, T>({ max: 200 });
  const withoutHeader = choose(undefined);
  return (header) => {
    if (header === undefined) return withoutHeader;
    const read =
      header.length > MAX_HEADER_LENGTH ? header.slice(0, header.lastIndexOf(',', MAX_HEADER_LENGTH) + 1) : header;
    let choice = known.get(read);
    if (choice === undefined) known.set(read, (choice = choose(read)));
    return choice;
  };
}

/**
 * Creates a choice of a media type by `Accept`: `none` when it excludes all that are offered. Parameters such as `charset` and
 * `version` make no difference.
 */
export function createTypeChooser<T extends string>(offered: readonly [T, ...T[]]): (accept?: string) => T | 'none' {
  return byHeader((accept) => {
    if (accept === undefined) return offered[0];
    const ranges = accept.replaceAll(/;\s*(?!q=)[^;,="]*(?:="[^"]*"|=[^;,]*)?/gi, '');
    const type = new Negotiator({ headers: { accept: ranges } }).mediaType([...offered]);
    return offered.find((each) => each === type) ?? 'none';
  });
}

const choosePageType = createTypeChooser([HTML, JSON_TYPE]);

/** The type of a resource that is a page for people and JSON for programs. @throws GatewayError not-acceptable */
export function toPageType(accept: string | undefined): typeof HTML | typeof JSON_TYPE {
  const type = choosePageType(accept);
  if (type !== 'none') return type;
  throw new GatewayError('not-acceptable', 'The Accept header excludes text/html and application/json.');
}
