/** The API path in this address, without a proxy's base path; null if there is none. */
export const toPath = (url: string): string | null => /\/api\/v1\/.*$/.exec(new URL(url).pathname)?.[0] ?? null;
