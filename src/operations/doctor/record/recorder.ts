import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { EndedCall } from '../../../egress/egress.js';
import { VERSION } from '../../../config/version.js';
import type { Exchange, ExchangeKind, RecordingFacts } from '../../../sandbox/replay/read-recording.js';
import { maskBody, wordsOf } from './mask-body.js';
import { maskHeaders } from './mask-headers.js';
import { Mask } from './mask.js';

type Seen = Omit<Exchange, 'headers'> & { readonly headers: IncomingHttpHeaders };

export interface MaskedRecording {
  /** NDJSON. */
  readonly text: string;
  readonly exchanges: readonly Exchange[];
  readonly maskedValues: number;
  /** Values before and after, for the terminal only. */
  readonly samples: Mask['samples'];
}

/** What a handshake with the bank showed. */
interface Handshake {
  readonly tlsVersion?: string | null;
  readonly serverChain?: readonly Readonly<
    Record<'subject' | 'names' | 'subjectKey' | 'validFrom' | 'validTo', string>
  >[];
}

/** Keeps what the bank sends. */
export class Recorder {
  readonly #seen: Seen[] = [];
  /** What the next calls to the account list ask for. */
  kind: Exclude<ExchangeKind, 'token'> = 'page';
  /** Words that must not be in the recording: hosts, user, subject of the certificate. */
  names: readonly string[] = [];
  /** Facts of TLS by the name of the host's role: bank, or tokens and accounts. */
  tls: Readonly<Record<string, Handshake>> = {};

  readonly note = ({ request, answer, failure, ms }: EndedCall): void => {
    const { target, path, query = {} } = request;
    this.#seen.push({
      kind: target === 'token' ? 'token' : this.kind,
      path,
      query,
      ms: Math.round(ms),
      status: answer?.status ?? null,
      failure: answer ? null : failure,
      headers: answer?.headers ?? {},
      body: answer?.body.toString('utf8') ?? '',
    });
  };

  /** The recording so far; null without a call. */
  mask(at: Date): MaskedRecording | null {
    if (this.#seen.length === 0) return null;
    const mask = new Mask();
    const values = this.#words();
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

  #words(): Set<string> {
    const words = this.names.flatMap((name) => name.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
    const all = new Set(words);
    for (const { body } of this.#seen) for (const word of wordsOf(body)) all.add(word);
    return all;
  }
}

/** Keys of certificates by a salted hash: the same key is recognized, but no public list of certificates finds it. */
function toTlsFacts(tls: Recorder['tls']): RecordingFacts['tls'] {
  const salt = randomBytes(16).toString('hex');
  const facts = Object.entries(tls).map(([role, { tlsVersion, serverChain = [] }]) => {
    const chain = serverChain.map(({ subjectKey, validFrom, validTo }) => ({
      subjectKey: hash('sha256', salt + subjectKey).slice(0, 32),
      validFrom: validFrom.slice(0, 10),
      validTo: validTo.slice(0, 10),
    }));
    return [role, { version: String(tlsVersion), salt, chain }] as const;
  });
  return Object.fromEntries(facts);
}
