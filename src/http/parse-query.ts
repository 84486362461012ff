import { parse, type ParsedUrlQuery } from 'node:querystring';

/** More than any route defines, so the schema still sees at least one unknown or repeated parameter. */
const MAX_PARAMETERS = 100;

/** Parses a query string, up to 100 parameters. */
export function parseQuery(query: string): ParsedUrlQuery {
  // the limit also counts empty parameters (&&), which would hide the ones after them
  return parse(query.replaceAll(/&+/g, '&'), '&', '=', { maxKeys: MAX_PARAMETERS });
}
