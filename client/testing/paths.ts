/** A path of the API in this address, without the base path of a proxy; null if it has none. */
export const toPath = (url: string): string | null => /\/api\/v1\/.*$/.exec(new URL(url).pathname)?.[0] ?? null;
