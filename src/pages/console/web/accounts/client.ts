import { createClient } from '../../../../../client/src/index.js';
import { fetchAsPage } from '../shared/gateway.js';

/** The same client that web apps use. */
export const client = createClient({ baseUrl: '', clientName: 'console', deadlineMs: 20_000, fetch: fetchAsPage });
