/** Severity of a state. */
export type Level = 'ok' | 'warn' | 'bad' | 'unknown';
