/**
 * A query string as names and values; a name given more than once has an array. A value that is not proper
 * percent-encoded UTF-8 keeps the replacement character, which no parameter allows.
 */
export function parseQuery(query: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(query)) {
    const before = found[name];
    found[name] = before === undefined ? value : [before, value].flat();
  }
  return found;
}
