import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from '../state/faults.js';
import type { SeenRequest } from '../state/request-log.js';
import { problem, type Answer } from './answer.js';
import { authorize } from './authorize.js';
import { toBankCall, type BankCall } from './bank-call.js';
import type { BankState } from '../state/bank-state.js';
import { listAccounts } from './list-accounts.js';
import { resetConnection, sendTruncated, toFaultAnswer } from './misbehave.js';
import { parsePaging } from './paging.js';
import { sendRecorded } from './send-recorded.js';

const PATHS: ReadonlyMap<string, Endpoint> = new Map([
  ['/api/v1/authorizations/authorize', 'authorize'],
  ['/api/v1/accounts', 'accounts'],
]);

/** Responds to a request in place of the sandbox; false leaves it to the sandbox. */
export type Script = (request: IncomingMessage, response: ServerResponse) => boolean;

interface ServeOptions {
  /** The endpoints of this host; the other host's path is a 404 here. */
  readonly endpoints: readonly Endpoint[];
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  /** The raw TCP socket of a TLS request. */
  readonly tcpOf: (request: IncomingMessage) => Socket | undefined;
  readonly script: Script | undefined;
}

/** Handles one request: logs it, delays it by `latencyMs`, and fails it if `failNext` demands that. */
export async function serveRequest(
  request: IncomingMessage,
  response: ServerResponse,
  bank: BankState,
  { endpoints, closing, tcpOf, script }: ServeOptions,
): Promise<void> {
  if (script?.(request, response)) return;
  const call = toBankCall(request);
  const known = PATHS.get(call.path) ?? null;
  const endpoint = known && endpoints.includes(known) ? known : null;
  const fault = endpoint && bank.switches.takeFault(endpoint);
  const seen = bank.log.add({ ...toSeen(call, endpoint), fault });
  if (bank.switches.values.latencyMs > 0) await sleep(bank.switches.values.latencyMs, undefined, { signal: closing });
  const answer = (fault && toFaultAnswer(fault, endpoint)) ?? (await answerTo(endpoint, call, bank));
  if (fault === 'hang') return;
  if (fault === 'reset') return resetConnection(response, tcpOf(request));
  seen.tokenNumber = answer.tokenNumber ?? null;
  if (response.destroyed) return;
  seen.status = answer.status;
  const complete = withRequestId(answer, call);
  if (fault === 'truncate') sendTruncated(response, complete);
  else send(response, complete);
}

async function answerTo(endpoint: Endpoint | null, call: BankCall, bank: BankState): Promise<Answer> {
  if (endpoint === 'authorize') return authorize(call, bank);
  if (endpoint === 'accounts') return listAccounts(call, bank);
  return problem(404, 'There is nothing at this address.');
}

function send(response: ServerResponse, answer: Answer): void {
  const { status, headers, body, recorded } = answer;
  if (recorded) return sendRecorded(response, answer, recorded);
  const content = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': content.length }).end(content);
}

function withRequestId(answer: Answer, call: BankCall): Answer {
  const id = call.headers['x-request-id'];
  if (answer.recorded || typeof id !== 'string' || !/^[\w.-]{1,128}$/.test(id)) return answer;
  return { ...answer, headers: { ...answer.headers, 'x-request-id': id } };
}

function toSeen(call: BankCall, endpoint: Endpoint | null): Omit<SeenRequest, 'fault'> {
  const paging = endpoint === 'accounts' ? parsePaging(call.query) : null;
  const id = call.headers['x-request-id'];
  return {
    at: new Date().toISOString(),
    endpoint,
    method: call.method,
    path: call.path.slice(0, 200),
    status: null,
    thumbprint: call.thumbprint,
    clientAddress: call.clientAddress,
    pageNumber: paging?.isValid ? paging.paging.number : null,
    pageSize: paging?.isValid ? paging.paging.size : null,
    requestId: typeof id === 'string' ? id.slice(0, 128) : null,
    tokenNumber: null,
    headerNames: Object.keys(call.headers),
  };
}
