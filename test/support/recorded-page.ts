import type { Exchange } from '../../src/recording/read-recording.js';

/** A recorded page of the account list, a 200 with this body. */
export const recordedPage = (body: string, change: Partial<Exchange> = {}): Exchange => ({
  kind: 'page',
  path: '/api/v1/accounts',
  query: {},
  status: 200,
  failure: null,
  headers: {},
  ms: 1,
  body,
  ...change,
});
