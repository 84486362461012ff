import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { PageReader, type PageFacts } from '../bank/page-reader.js';
import { GatewayError } from '../problems/gateway-error.js';
import { toAccount } from './account.js';
import { SnapshotBuilder } from './snapshot-builder.js';
import type { SnapshotHeader } from './sections.js';
import type { ProblemCode } from '../problems/problem-table.js';

/** Requests of the serving thread. `begin` drops everything gathered before. */
export type Order =
  | { readonly kind: 'begin' }
  | { readonly kind: 'page'; readonly id: number; readonly pageNumber: number; readonly pieces: readonly Uint8Array[] }
  | { readonly kind: 'finish'; readonly id: number; readonly header: Pick<SnapshotHeader, 'asOf' | 'complete'> };

/** The answer to the order with this id. A problem is an error of the page; anything else that fails ends this thread. */
export type Reply = {
  readonly id: number;
} & (
  | { readonly value: PageFacts | ArrayBuffer }
  | { readonly problem: { readonly code: ProblemCode; readonly detail: string } }
);

/** Where threads share a core, the one that serves has three times the time on it while both have work. */
const NICER_BY = 5;

/**
 * Puts this thread behind those that answer callers. Only Linux knows priorities of threads, and means the thread that asks
 * (setpriority(2)); elsewhere it would be the process.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // a sandbox may forbid it; nothing depends on it
  }
}

giveWay();

let pages = new PageReader();
let builder = new SnapshotBuilder();

function reset(): void {
  pages = new PageReader();
  builder = new SnapshotBuilder();
}

function take(pageNumber: number, pieces: readonly Uint8Array[]): PageFacts {
  return pages.read(pageNumber, Buffer.concat(pieces), (account) => builder.add(toAccount(account), pageNumber));
}

parentPort?.on('message', (order: Order) => {
  if (order.kind === 'begin') {
    reset();
    return;
  }
  try {
    const value = order.kind === 'page' ? take(order.pageNumber, order.pieces) : builder.finish(order.header);
    const reply: Reply = { id: order.id, value };
    parentPort?.postMessage(reply, value instanceof ArrayBuffer ? [value] : []);
    if (order.kind === 'finish') reset();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const reply: Reply = { id: order.id, problem: { code: error.code, detail: error.detail } };
    parentPort?.postMessage(reply, []);
  }
});
