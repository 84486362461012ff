import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { PageReader, type PageFacts } from '../bank/page-reader.js';
import { GatewayError } from '../errors/gateway-error.js';
import { toAccount } from './account.js';
import { SnapshotBuilder } from './snapshot-builder.js';
import type { SnapshotHeader } from './sections.js';
import type { ProblemCode } from '../errors/problem-table.js';

/**
 * A request from the serving thread, which waits for the reply before it sends the next. Page 1 and `finish` discard the
 * gathered rows.
 */
export type Order =
  | { readonly kind: 'page'; readonly number: number; readonly body: Uint8Array }
  | { readonly kind: 'finish'; readonly header: Pick<SnapshotHeader, 'asOf' | 'complete'> };

/** A problem is an error of the page; anything else that goes wrong ends this thread. */
export type Reply =
  | { readonly value: PageFacts | ArrayBuffer }
  | { readonly problem: { readonly code: ProblemCode; readonly detail: string } };

/** Nice value of this thread. On a shared core, the serving thread then gets three times the CPU time of this one. */
const NICER_BY = 5;

/**
 * Lowers the priority of this thread below that of the serving thread. Only on Linux, where setpriority(2) affects
 * the calling thread; elsewhere it would affect the process.
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

const begin = () => ({ pages: new PageReader(), builder: new SnapshotBuilder() });
let list = begin();

function take({ number, body }: Extract<Order, { kind: 'page' }>): PageFacts {
  if (number === 1) list = begin();
  const { pages, builder } = list;
  return pages.read(number, body, (account) => builder.add(toAccount(account)));
}

function finish({ header }: Extract<Order, { kind: 'finish' }>): ArrayBuffer {
  const buffer = list.builder.finish(header);
  list = begin();
  return buffer;
}

parentPort?.on('message', (order: Order) => {
  try {
    const value = order.kind === 'page' ? take(order) : finish(order);
    parentPort?.postMessage({ value } satisfies Reply, value instanceof ArrayBuffer ? [value] : []);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    parentPort?.postMessage({ problem: { code: error.code, detail: error.detail } } satisfies Reply, []);
  }
});
