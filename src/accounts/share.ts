/**
 * `now`, with every part that equals its counterpart in `before` replaced by it; `before` itself when all is equal. So a
 * new reading costs memory only for what has changed, and what is the same object has not changed. For plain JSON values;
 * `now` must be the caller's own.
 */
export function share<T>(before: T | undefined, now: T): T {
  return sharePart(before, now) as T;
}

function sharePart(before: unknown, now: unknown): unknown {
  if (before === now) return before;
  if (typeof before !== 'object' || before === null || typeof now !== 'object' || now === null) return now;
  if (Array.isArray(before) !== Array.isArray(now)) return now;
  if (Array.isArray(before) && Array.isArray(now)) {
    let same = before.length === now.length;
    for (let index = 0; index < now.length; index++) {
      const part = sharePart(before[index], now[index]);
      if (part !== before[index]) same = false;
      now[index] = part;
    }
    return same ? before : now;
  }
  let same = true;
  let left = Object.keys(before).length;
  const [old, fresh] = [before as Record<string, unknown>, now as Record<string, unknown>];
  for (const key in fresh) {
    const part = sharePart(old[key], fresh[key]);
    if (part !== old[key]) same = false;
    fresh[key] = part;
    left -= 1;
  }
  return same && left === 0 ? before : now;
}
