import { request as openRequest, type RequestOptions } from 'node:https';
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import axios from 'axios';
import type { CallOptions } from './agents.js';
import type { Instant } from '../time/clock.js';
import { GatewayError } from '../errors/gateway-error.js';
import { CallFailed, connectionOf } from './connection.js';
import { withoutFinalDot } from './dial.js';
import { USER_AGENT } from './open-tunnel.js';

/** Responses of status 1xx before the final one. Each takes time on the serving thread. */
const MAX_INTERIM_RESPONSES = 100;

/** Pieces of one body, which each take time too. 32 MB in the segments of an ordinary network are about 23 000. */
const MAX_PIECES = 65_536;

/** Four times Node's. */
export const MAX_HEADER_BYTES = 65_536;

export type BankTarget = 'token' | 'accounts';

export const NAMES: Readonly<Record<BankTarget, string>> = {
  token: 'the token endpoint',
  accounts: 'the account list',
};

export interface WireRequest {
  readonly target: BankTarget;
  /** https, without trailing slash. */
  readonly baseUrl: string;
  /** Begins with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The request is not sent after this time, even if it still waits for its slot: its token is then too old. */
  readonly sendBefore?: Instant;
  /** True for a call that goes out over a fresh connection: what is kept has just failed. */
  readonly isFresh?: boolean;
  /** The error of a response, or null; by default `toAnswerError`. A 404 past the last page, for example, is none. */
  readonly judge?: (answer: WireAnswer) => GatewayError | null;
  /** Ends the call early, even while it waits for its slot. The error is then the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A response from the bank, whatever its status. The body is complete and decompressed, but not parsed. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** What we authenticated with: token, or user name and password. Nothing that is read from the answer may contain it. */
  readonly credentials?: readonly string[];
}

export interface Answer extends WireAnswer {
  /** Null for a response that can be used. */
  readonly error: GatewayError | null;
}

/** More bytes than BANK_MAX_RESPONSE_BYTES. */
export class AnswerTooLarge extends Error {}

const invalid = (detail: string) => new GatewayError('bank-response-invalid', detail);

/** Names only known encodings. Brotli is not decoded: its decoders had vulnerabilities, and we do not request it. */
const wrongEncoding = (name: string) => {
  const known = /^(br|zstd|deflate|compress|x-compress)$/.test(name) ? ` ${name}` : '';
  return invalid(`The response of the bank has a Content-Encoding${known} that was not requested; only gzip is.`);
};

const client = axios.create({
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

export interface WireOptions {
  readonly agent: Agent;
  readonly signal: AbortSignal;
  /** Applies before and after decompression. */
  readonly maxBytes: number;
  /** Called when the response header has arrived. */
  readonly onAnswer: (answer: IncomingMessage, isNewConnection: boolean) => void;
}

/** Sends one GET. Returns any status, including an unfollowed redirect. @throws CallFailed */
export async function getOverWire(request: WireRequest, options: WireOptions): Promise<WireAnswer> {
  const { agent, signal, maxBytes } = options;
  const call = new OpenedCall(options);
  try {
    const { status, data } = await client.get<Readable>(request.path, {
      baseURL: request.baseUrl,
      params: request.query,
      headers: {
        Accept: false,
        // SNI follows this header
        Host: withoutFinalDot(new URL(request.baseUrl).host),
        'User-Agent': USER_AGENT,
        'Accept-Encoding': 'gzip',
        ...request.headers,
      },
      httpsAgent: agent,
      transport: { request: call.open },
      signal,
    });
    const { headers } = call;
    const body = await readBody(data, headers['content-encoding'] ?? '', maxBytes);
    // it was sent before our request, and means that the bank closes the connection
    if (status === 408 && call.isOnKeptConnection) {
      throw Object.assign(new Error('408 on a kept connection'), { code: 'ECONNRESET' });
    }
    const credentials = toCredentials(request.headers['Authorization']);
    return { status, headers, body, credentials };
  } catch (error) {
    throw call.toFailure(error);
  }
}

/** Observes the request that axios opens for one call, because axios reports only part of what happens. */
class OpenedCall {
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #error: Error | undefined;

  constructor(private readonly options: WireOptions) {}

  /** The `request` function of axios' transport. */
  readonly open = (options: RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest => {
    const { signal: callSignal, maxBytes, onAnswer } = this.options;
    // reads what curl reads, such as two lengths that agree
    const parsing = { insecureHTTPParser: true, maxHeaderSize: MAX_HEADER_BYTES };
    const opened = openRequest({ ...options, ...parsing, callSignal } as CallOptions, (response) => {
      this.#response = response;
      onAnswer(response, !opened.reusedSocket);
      if (Number(response.headers['content-length']) > maxBytes) opened.destroy(new AnswerTooLarge());
      else onResponse(response);
    });
    let interim = 0;
    opened.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_RESPONSES) {
        opened.destroy(invalid(`The bank sent more than ${MAX_INTERIM_RESPONSES} responses of status 1xx.`));
      }
    });
    // without a listener, the call would wait for its deadline; after the socket is handed over, `destroy` reports no
    // error
    opened.once('upgrade', (_response, socket: Socket) => {
      socket.destroy();
      opened.emit('error', invalid('The bank answered 101, with another protocol, where 200 is expected.'));
    });
    // passes on the reason; the response stream only knows that it was aborted
    opened.once('error', (error) => (this.#error = error));
    this.#request = opened;
    return opened;
  };

  get headers(): IncomingHttpHeaders {
    return this.#response?.headers ?? {};
  }

  get isOnKeptConnection(): boolean {
    return this.#request?.reusedSocket ?? false;
  }

  /** @param thrown what axios or the body's stream reported */
  toFailure(thrown: unknown): CallFailed {
    const { reusedSocket = false, socket } = this.#request ?? {};
    const received = this.#response?.statusCode ?? null;
    const status = received === 408 && reusedSocket ? null : received;
    const cause = status === null ? thrown : (this.#error ?? thrown);
    return new CallFailed(cause, status, reusedSocket, connectionOf(socket));
  }
}

/** The token, or for Basic the user name and the password. A token that is decoded as Basic only adds noise. */
function toCredentials(authorization = ''): readonly string[] {
  const [, value = ''] = authorization.split(' ');
  return [value, ...Buffer.from(value, 'base64').toString().split(':')];
}

const decompress = promisify(gunzip);

/**
 * The whole body without its Content-Encoding. Stricter than axios, which returns the beginning of a truncated
 * compressed body as if it were complete.
 * @throws AnswerTooLarge; Error when it is damaged, cut off, or in an encoding that was not asked for
 */
async function readBody(stream: Readable, encoding: string, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // iteration would join small pieces, and hide how many there are
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) stream.destroy(new AnswerTooLarge());
    else if (pieces.length === MAX_PIECES)
      stream.destroy(invalid(`A response of the bank came in more than ${MAX_PIECES} pieces.`));
    else pieces.push(piece);
  });
  await finished(stream);
  const body = Buffer.concat(pieces);
  const name = encoding.trim().toLowerCase();
  if (bytes === 0 || name === '' || name === 'identity') return body;
  if (name !== 'gzip' && name !== 'x-gzip') throw wrongEncoding(name);
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw new AnswerTooLarge();
    throw error;
  }
}
