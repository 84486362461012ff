import { LRUCache } from 'lru-cache';

const MAX_REMEMBERED = 200;
const MAX_KEY_LENGTH = 300;

/** The same function, its results for the headers seen most often kept. For pure functions of a header. */
export function remember<T extends NonNullable<unknown>>(
  of: (header: string | undefined) => T,
): (header: string | undefined) => T {
  const known = new LRUCache<string, T>({ max: MAX_REMEMBERED });
  const ofNone = of(undefined);
  return (header) => {
    if (header === undefined) return ofNone;
    if (header.length > MAX_KEY_LENGTH) return of(header);
    let result = known.get(header);
    if (result === undefined) known.set(header, (result = of(header)));
    return result;
  };
}
