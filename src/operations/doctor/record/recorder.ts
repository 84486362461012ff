import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Egress } from '../../../egress/egress.js';
import type { WireAnswer, WireRequest } from '../../../egress/wire-client.js';
import { GatewayError, toGatewayError } from '../../../errors/gateway-error.js';
import { VERSION } from '../../../config/version.js';
import type { Exchange, ExchangeKind, RecordingFacts } from '../../../sandbox/replay/read-recording.js';
import { maskBody, wordsOf } from './mask-body.js';
import { maskHeaders } from './mask-headers.js';
import { Mask } from './mask.js';

/** Of all bodies. One refresh of the gateway takes no more. */
const MAX_BYTES = 256 * 1024 * 1024;

interface Seen {
  readonly kind: ExchangeKind;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  ms: number;
  status: number | null;
  failure: string | null;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface MaskedRecording {
  /** NDJSON. */
  readonly text: string;
  readonly exchanges: readonly Exchange[];
  readonly maskedValues: number;
  /** Values before and after, for the terminal only. */
  readonly samples: Mask['samples'];
}

/** Calls the bank as the gateway does, and keeps what it sends. */
export class Recorder {
  readonly #seen: Seen[] = [];
  #bytes = 0;
  kind: ExchangeKind = 'token';
  /** Facts of TLS by the name of the host's role: bank, or tokens and accounts. */
  tls: Readonly<Record<string, { readonly tlsVersion?: unknown; readonly serverChain?: unknown }>> = {};

  constructor(private readonly egress: Pick<Egress, 'get'>) {}

  /** @throws as `Egress.get` */
  async get(request: WireRequest): Promise<WireAnswer> {
    const started = performance.now();
    const seen: Seen = {
      kind: this.kind,
      path: request.path,
      query: request.query ?? {},
      ms: 0,
      status: null,
      failure: null,
      headers: {},
      body: '',
    };
    this.#seen.push(seen);
    try {
      const answer = await this.egress.get(request);
      this.#bytes += answer.body.length;
      if (this.#bytes > MAX_BYTES)
        throw new GatewayError('bank-response-invalid', 'The answers of the bank are larger than 256 MB.');
      Object.assign(seen, { status: answer.status, headers: answer.headers ?? {}, body: answer.body.toString('utf8') });
      return answer;
    } catch (error) {
      seen.failure = toGatewayError(error).code;
      throw error;
    } finally {
      seen.ms = Math.round(performance.now() - started);
    }
  }

  /** @param names words that must not be in the recording: hosts, user, subject of the certificate */
  mask(names: readonly string[], at: Date): MaskedRecording {
    const mask = new Mask();
    const values = this.#words(names);
    const exchanges = this.#seen.map(({ headers, body, ...seen }) => ({
      ...seen,
      headers: maskHeaders(headers, mask, values),
      body: maskBody(body, mask, values),
    }));
    const facts: RecordingFacts = {
      recording: 1,
      at: at.toISOString(),
      version: VERSION,
      httpVersion: '1.1',
      tls: toTlsFacts(this.tls),
    };
    const text = [facts, ...exchanges].map((line) => `${JSON.stringify(line)}\n`).join('');
    return { text, exchanges, maskedValues: mask.count, samples: mask.samples };
  }

  #words(names: readonly string[]): Set<string> {
    const words = names.flatMap((name) => name.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
    const all = new Set(words);
    for (const { body } of this.#seen) for (const word of wordsOf(body)) all.add(word);
    return all;
  }
}

/** Keys of certificates by a salted hash: the same key is recognized, but no public list of certificates finds it. */
function toTlsFacts(tls: Recorder['tls']): RecordingFacts['tls'] {
  const salt = randomBytes(16).toString('hex');
  const facts = Object.entries(tls).map(([role, { tlsVersion, serverChain }]) => {
    const chain = (Array.isArray(serverChain) ? serverChain : []) as Record<string, string>[];
    const keys = chain.map(({ subjectKey = '', validFrom = '', validTo = '' }) => ({
      subjectKey: hash('sha256', salt + subjectKey).slice(0, 32),
      validFrom: validFrom.slice(0, 10),
      validTo: validTo.slice(0, 10),
    }));
    return [role, { version: String(tlsVersion), salt, chain: keys }] as const;
  });
  return Object.fromEntries(facts);
}
