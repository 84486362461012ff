import { createClient } from '../../../../../client/src/index.js';
import { fetchAsPage } from '../shared/gateway.js';

/** The client that web apps use, too. */
export const client = createClient({ baseUrl: '', clientName: 'console', deadlineMs: 20_000, fetch: fetchAsPage });
