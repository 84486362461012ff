/** How well something is. */
export type Level = 'ok' | 'warn' | 'bad' | 'unknown';
