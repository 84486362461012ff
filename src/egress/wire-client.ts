import { request as openRequest, type RequestOptions } from 'node:https';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isNativeError } from 'node:util/types';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import type { CallOptions } from './agent-options.js';
import type { BankCallEnded } from '../telemetry/activity.js';
import type { ProblemCode } from '../problems/problem-table.js';
import { ACCEPTED_ENCODINGS, AnswerTooLarge, decompress } from './decompress.js';

export interface WireRequest {
  /** Whom we talk to, in words for messages: "the token endpoint". */
  readonly target: string;
  /** https, without trailing slash. */
  readonly baseUrl: string;
  /** Begins with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** More headers, made when the call has its turn: what is in them may have aged while it waited. */
  readonly freshHeaders?: () => Readonly<Record<string, string>>;
  /** Ends the call early, also while it waits for its turn; the error then is the signal's reason. */
  readonly signal?: AbortSignal;
  /** Counts the call as one to this endpoint, and as failed when `judge` names the problem of a whole answer. */
  readonly counted?: { readonly endpoint: BankCallEnded['target']; readonly judge: (answer: WireAnswer) => ProblemCode | null };
}

/** An answer of the bank's, whatever its status; the body whole and decompressed, not looked at. */
export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The Retry-After header as sent. */
  readonly retryAfter: string | null;
  /** The body as it came: a large one is handed on like this, since to join it costs its size in memory again. */
  readonly pieces: readonly Buffer[];
}

/** A call that failed below HTTP, and how far it had come. Egress-internal: its cause may be an AxiosError, full of secrets. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** The status line of an answer had arrived. */
  readonly answered: boolean;
  /** The connection had served a call before. */
  readonly reusedSocket: boolean;

  constructor(cause: unknown, { answered, reusedSocket }: { answered: boolean; reusedSocket: boolean }) {
    super('the call failed', { cause });
    this.answered = answered;
    this.reusedSocket = reusedSocket;
  }

  /** The bank, or someone on the way, had closed the kept connection just as it was used again. */
  get diedIdle(): boolean {
    if (!this.reusedSocket || this.answered || !isNativeError(this.cause)) return false;
    const { code } = this.cause as NodeJS.ErrnoException;
    return code === 'ECONNRESET' || code === 'EPIPE';
  }
}

/** One GET over a given agent: no redirects, no absolute addresses, no environment, a size limit before and after decompression. */
export class WireClient {
  readonly #axios: AxiosInstance;
  readonly #maxBytes: number;

  constructor(maxResponseBytes: number) {
    this.#maxBytes = maxResponseBytes;
    this.#axios = axios.create({
      adapter: 'http',
      // the agent decides the route; axios would otherwise read HTTPS_PROXY by itself
      proxy: false,
      maxRedirects: 0,
      allowAbsoluteUrls: false,
      responseType: 'stream',
      transformResponse: [],
      validateStatus: () => true,
      maxBodyLength: 0,
      decompress: false,
    });
  }

  /** Gives any status. @throws CallFailed, or what `freshHeaders` throws */
  async get(request: WireRequest, agent: Agent, signal: AbortSignal): Promise<WireAnswer> {
    let wire: ClientRequest | undefined;
    let answered = false;
    let lost: Error | undefined;
    const open = (options: RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest => {
      const opened = openRequest({ ...options, callSignal: signal } as CallOptions, (response) => {
        answered = true;
        if (Number(response.headers['content-length']) > this.#maxBytes) opened.destroy(new AnswerTooLarge());
        else onResponse(response);
      });
      // what happened to the connection; the stream of the answer only tells that it was aborted
      opened.once('error', (error) => (lost = error));
      wire = opened;
      return opened;
    };
    const freshHeaders = request.freshHeaders?.();
    try {
      const response = await this.#axios.get<Readable>(request.path, {
        baseURL: request.baseUrl,
        params: request.query,
        headers: {
          Accept: false,
          'User-Agent': 'accounts-gateway',
          'Accept-Encoding': ACCEPTED_ENCODINGS,
          ...request.headers,
          ...freshHeaders,
        },
        httpsAgent: agent,
        transport: { request: open },
        signal,
      });
      return await this.#toAnswer(response);
    } catch (error) {
      const cause = answered ? (lost ?? error) : error;
      throw new CallFailed(cause, { answered, reusedSocket: wire?.reusedSocket === true });
    }
  }

  async #toAnswer(response: AxiosResponse<Readable>): Promise<WireAnswer> {
    const header = (name: string): string | null => {
      const value: unknown = response.headers[name];
      return typeof value === 'string' ? value : null;
    };
    const pieces = await gather(response.data, this.#maxBytes);
    return {
      status: response.status,
      contentType: header('content-type') ?? '',
      retryAfter: header('retry-after'),
      pieces: await decompress(pieces, header('content-encoding') ?? '', this.#maxBytes),
    };
  }
}

/** So many pieces in a row that are smaller than 4 KB on average are joined: each costs memory and time beside its bytes. */
const ROW = 64;
const SMALL_ROW_BYTES = ROW * 4096;

/** @throws AnswerTooLarge; the stream's error, also when it is cut off */
async function gather(stream: Readable, maxBytes: number): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let row = { begins: 0, bytes: 0 };
  // not read by iteration: that joins what has come meanwhile
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) stream.destroy(new AnswerTooLarge());
    pieces.push(piece);
    row.bytes += piece.length;
    if (pieces.length - row.begins < ROW) return;
    if (row.bytes < SMALL_ROW_BYTES) pieces.push(Buffer.concat(pieces.splice(row.begins)));
    row = { begins: pieces.length, bytes: 0 };
  });
  await finished(stream, { cleanup: true });
  return pieces;
}
