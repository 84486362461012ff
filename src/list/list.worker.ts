import { parentPort } from 'node:worker_threads';
import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import type { WholeDocument } from './documents.js';
import { ListService } from './list-service.js';

export type ListMethod = {
  [K in keyof ListService]: ListService[K] extends (...args: never) => unknown ? K : never;
}[keyof ListService];

export interface ListCall {
  readonly id: number;
  readonly method: ListMethod;
  readonly args: readonly unknown[];
}

/** Cancels a call, which then gets no reply. */
export interface CancelCall {
  readonly cancel: number;
}

export type ListReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly problem: { readonly code: ProblemCode; readonly detail: string } }
  | { readonly id: number; readonly error: unknown };

const service = new ListService();
const underWay = new Map<number, AbortController>();

parentPort?.on('message', (message: ListCall | CancelCall) => {
  if ('cancel' in message) underWay.get(message.cancel)?.abort();
  else void replyTo(message);
});

async function replyTo(call: ListCall): Promise<void> {
  const cancelled = new AbortController();
  underWay.set(call.id, cancelled);
  const reply = await run(call, cancelled.signal);
  underWay.delete(call.id);
  if (!cancelled.signal.aborted) parentPort?.postMessage(reply, buffersOf(reply));
}

async function run({ id, method, args }: ListCall, signal: AbortSignal): Promise<ListReply> {
  try {
    const call = service[method] as (...all: readonly unknown[]) => unknown;
    return { id, result: await call.apply(service, [...args, signal]) };
  } catch (error) {
    if (!(error instanceof GatewayError)) return { id, error };
    return { id, problem: { code: error.code, detail: error.detail } };
  }
}

/** Bytes, alone or as the body of a document, are transferred, not copied. */
function buffersOf(reply: ListReply): ArrayBuffer[] {
  const result = 'result' in reply ? reply.result : null;
  const bytes = (result as Partial<WholeDocument> | null)?.body ?? result;
  return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
}
