// the complete public interface of the package
export { createClient } from './create-client.js';
export type { AccountFilter, AccountQuery, Client, ClientOptions, ExportFormat } from './create-client.js';
export type { CallOptions } from './answer-reader.js';
export { formatAmount } from './format-amount.js';
export { GatewayProblem, isProblem } from './gateway-problem.js';
export type { GatewayProblemCode, GatewayProblemOwner } from './gateway-problem.js';
export type { Observed, ObservedState } from './observe.js';
export type { Changes, Watch, WatchHandlers } from './watch.js';
export type * from './generated/types.gen.js';
