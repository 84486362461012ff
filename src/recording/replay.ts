import { parseDigits } from './digits.js';
import type { Exchange, Recording } from './read-recording.js';

type Answered = Exchange & { readonly status: number };
type ReplayedAnswer = ReturnType<typeof toAnswer>;

/** Serves a recording. A repeated call gets its last response; calls without a response are left out. */
export class Replay {
  readonly #answers: ReadonlyMap<string, ReplayedAnswer>;
  readonly #pastTheEnd: Answered | undefined;
  readonly #first: Answered | undefined;
  readonly #accounts: readonly unknown[];

  constructor({ exchanges }: Recording) {
    const answered = exchanges.filter((exchange): exchange is Answered => exchange.status !== null);
    this.#answers = new Map(answered.map((exchange) => [keyOf(exchange), toAnswer(exchange)]));
    this.#pastTheEnd = answered.find(({ kind }) => kind === 'past-the-end');
    const pages = answered.filter(({ kind }) => kind === 'page');
    // the last pass began with the last request for page 1
    const begin = pages.findLastIndex((page) => numberOf(page) === 1 && page.status === 200);
    const pass = pages.slice(Math.max(0, begin)).toSorted((a, b) => numberOf(a) - numberOf(b));
    this.#first = pass[0];
    this.#accounts = pass.flatMap((page) => (page.status === 200 ? (accountsIn(parse(page.body)) ?? []) : []));
  }

  get count(): number {
    return this.#accounts.length;
  }

  /** The recorded response of the token endpoint, with a token issued by the sandbox. */
  token(token: string, lifetimeSeconds: number): ReplayedAnswer | null {
    const answer = this.#answers.get('token');
    if (answer?.status !== 200) return answer ?? null;
    const body = parse(answer.body) as Record<string, unknown> | null;
    // the gateway rejects such a response, also here
    if (typeof body?.['access_token'] !== 'string' || body['access_token'] === '') return answer;
    const lifetime = typeof body['expires_in'] === 'string' ? String(lifetimeSeconds) : lifetimeSeconds;
    const own = { access_token: token, ...('expires_in' in body && { expires_in: lifetime }) };
    return { ...answer, body: markOf(answer.body) + JSON.stringify({ ...body, ...own }) };
  }

  /** @param rowCount number of accounts to serve; the recording has `count` */
  page(number: number, size: number, rowCount: number): ReplayedAnswer | null {
    const recorded = rowCount === this.count ? this.#answers.get(`${number} ${size}`) : undefined;
    if (recorded) return recorded;
    if (!this.#first) return null;
    const from = (number - 1) * size;
    if (number > 1 && from >= rowCount && this.#pastTheEnd) return toAnswer(this.#pastTheEnd);
    const document = parse(this.#first.body);
    const list = accountsIn(document);
    if (!list || this.#first.status !== 200) return toAnswer(this.#first);
    const counts = new Map(Object.entries({ currentPage: number, pageSize: size, rowCount }));
    const body = JSON.stringify(document, (key, value: unknown) => {
      if (value === list) return this.#accounts.slice(from, Math.min(from + size, rowCount));
      const count = counts.get(key);
      if (count === undefined || value === null) return value;
      return typeof value === 'string' ? String(count) : count;
    });
    return { ...toAnswer(this.#first), body: markOf(this.#first.body) + body };
  }
}

const numberOf = ({ query }: Exchange): number => Number(query['PageNumber']);

const keyOf = ({ kind, query }: Exchange): string =>
  kind === 'token' ? kind : `${query['PageNumber']} ${query['PageSize']}`;

/** A response to send with the recorded headers. */
const toAnswer = ({ status, headers, body }: Answered) => ({
  status,
  headers: {},
  body,
  recorded: headers,
});

const markOf = (body: string): string => (body.startsWith('\ufeff') ? '\ufeff' : '');

/** The JSON of a body, with the digits of its numbers; null for anything else. */
function parse(body: string): unknown {
  try {
    return parseDigits(body.slice(markOf(body).length));
  } catch {
    return null;
  }
}

/** The list of accounts in a document: `result`, else a list of objects, or the document itself; null without one. */
function accountsIn(document: unknown): readonly unknown[] | null {
  if (typeof document !== 'object' || document === null) return null;
  const { result } = document as { readonly result?: unknown };
  const candidates: unknown[] = [result, ...Object.values(document), document];
  const isList = (value: unknown) => Array.isArray(value) && (value === result || typeof value[0] === 'object');
  return (candidates.find(isList) as unknown[] | undefined) ?? null;
}
