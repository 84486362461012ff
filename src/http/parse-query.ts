/** Maximum number of parameters; more than any route has, so a schema always finds an unknown or repeated one among them. */
const MAX_PARAMETERS = 100;

/**
 * A query string as names and values; a name given more than once has an array. A value that is not proper
 * percent-encoded UTF-8 keeps the replacement character, which no parameter allows. At most 100 parameters are looked at.
 */
export function parseQuery(query: string): Record<string, string | string[]> {
  const found = Object.create(null) as Record<string, string | string[]>;
  if (query === '') return found;
  for (const [name, value] of new URLSearchParams(query.slice(0, endOfParameters(query)))) {
    const before = found[name];
    if (before === undefined) found[name] = value;
    else if (typeof before === 'string') found[name] = [before, value];
    else before.push(value);
  }
  return found;
}

function endOfParameters(query: string): number {
  let count = 0;
  let start = 0;
  while (start < query.length) {
    let end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    // "&&" separates nothing
    if (end > start && ++count === MAX_PARAMETERS) return end;
    start = end + 1;
  }
  return query.length;
}
