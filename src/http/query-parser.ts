import { parse, type ParsedUrlQuery } from 'node:querystring';

/** More than any route defines, so the schema still sees at least one unknown or repeated parameter. */
const MAX_PARAMETERS = 100;
/** At this number, all remembered strings are dropped. */
const MAX_REMEMBERED = 1000;
/** Longer query strings are parsed each time. */
const MAX_REMEMBERED_LENGTH = 500;

/**
 * Creates a parser of query strings. For a string that it has seen lately it returns the same frozen object again, so what is made
 * of it, as by ValidationPipe, can be remembered with it.
 */
export function createQueryParser(): (query: string) => Readonly<ParsedUrlQuery> {
  const remembered = new Map<string, Readonly<ParsedUrlQuery>>();
  return (query) => {
    const known = remembered.get(query);
    if (known) return known;
    const parsed = parseFrozen(query);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    if (query.length <= MAX_REMEMBERED_LENGTH) remembered.set(query, parsed);
    return parsed;
  };
}

function parseFrozen(query: string): Readonly<ParsedUrlQuery> {
  // the limit also counts empty parameters (&&), which would hide the ones after them
  const parsed = parse(query.replaceAll(/&+/g, '&'), '&', '=', { maxKeys: MAX_PARAMETERS });
  for (const value of Object.values(parsed)) Object.freeze(value);
  return Object.freeze(parsed);
}
