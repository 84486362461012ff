import type { IncomingHttpHeaders } from 'node:http';
import type { EndedCall } from '../egress/egress.js';
import { VERSION } from '../config/build-output.js';
import type { Exchange, ExchangeKind, RecordingFacts } from './read-recording.js';
import { maskBody } from './mask-body.js';
import { maskHeaders } from './mask-headers.js';
import { Mask } from './mask.js';

type Seen = Omit<Exchange, 'headers'> & { readonly headers: IncomingHttpHeaders };

export type MaskedRecording = NonNullable<ReturnType<Recorder['mask']>>;

export interface BankDescription {
  readonly tls: RecordingFacts['tls'];
  /** Words, in lower case, that are masked even in place of a word of an open list. */
  readonly secrets: ReadonlySet<string>;
}

export class Recorder {
  readonly #seen: Seen[] = [];
  /** Pages that the next calls to the account list request. */
  kind: Exclude<ExchangeKind, 'token'> = 'page';
  /** Set before the first call. */
  bank: BankDescription = { tls: {}, secrets: new Set() };

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

  /** The recording so far as NDJSON; null without a call. */
  mask(at: Date) {
    if (this.#seen.length === 0) return null;
    const mask = new Mask();
    const exchanges: Exchange[] = this.#seen.map(({ headers, body, ...seen }) => ({
      ...seen,
      headers: maskHeaders(headers, mask),
      body: maskBody(body, mask, this.bank.secrets),
    }));
    const facts: RecordingFacts = {
      recording: 1,
      at: at.toISOString(),
      version: VERSION,
      httpVersion: '1.1',
      tls: this.bank.tls,
    };
    const text = [facts, ...exchanges].map((line) => `${JSON.stringify(line)}\n`).join('');
    return { text, exchanges, maskedValues: mask.count, samples: mask.samples };
  }
}
