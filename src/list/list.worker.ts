import { parentPort } from 'node:worker_threads';
import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { ListService } from './list-service.js';

export type ListMethod = {
  [K in keyof ListService]: ListService[K] extends (...args: never) => unknown ? K : never;
}[keyof ListService];

/** A call of a method of the list service, from the serving thread. */
export interface ListCall {
  readonly id: number;
  readonly method: ListMethod;
  readonly args: readonly unknown[];
}

/** The result of the call with the same id. */
export type ListReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly problem: { readonly code: ProblemCode; readonly detail: string } }
  | { readonly id: number; readonly error: unknown };

const service = new ListService();

parentPort?.on('message', (call: ListCall) => {
  const reply = run(call);
  parentPort?.postMessage(reply, buffersOf(reply));
});

function run({ id, method, args }: ListCall): ListReply {
  try {
    const call = service[method] as (...all: readonly unknown[]) => unknown;
    return { id, result: call.apply(service, [...args]) };
  } catch (error) {
    if (!(error instanceof GatewayError)) return { id, error };
    return { id, problem: { code: error.code, detail: error.detail } };
  }
}

/** Bytes are transferred, not copied. */
function buffersOf(reply: ListReply): ArrayBuffer[] {
  const result = 'result' in reply ? reply.result : null;
  const bytes = isAnswer(result) ? result.body : result;
  return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
}

const isAnswer = (result: unknown): result is { readonly body: unknown } =>
  typeof result === 'object' && result !== null && 'body' in result;
