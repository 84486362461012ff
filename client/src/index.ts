// what the package offers; nothing else of it is promised
export { createClient } from './create-client.js';
export type { AccountFilter, AccountQuery, CallOptions, Client, ClientOptions } from './create-client.js';
export { GatewayProblem } from './gateway-problem.js';
export type { GatewayProblemCode, GatewayProblemOwner } from './gateway-problem.js';
export type { Watch, WatchHandlers } from './watch/watch-events.js';
export type * from './generated/types.gen.js';
