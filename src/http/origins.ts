/** Tells whether an `Origin` header is one of those listed; `:*` at the end of one stands for any port or none. */
export function createOriginCheck(listed: readonly string[]): (origin: string | undefined) => boolean {
  const exact = new Set(listed);
  const anyPort = new Set(listed.filter((each) => each.endsWith(':*')).map((each) => each.slice(0, -2)));
  return (origin) =>
    origin !== undefined &&
    !origin.endsWith('*') &&
    (exact.has(origin) || anyPort.has(origin.replace(/:\d{1,5}$/, '')));
}
