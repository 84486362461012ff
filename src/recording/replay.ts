import type { Exchange, Recording } from './read-recording.js';

/** A response to send with the recording's headers. */
interface ReplayedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly recorded: Readonly<Record<string, string | null>>;
  readonly encoding?: Exchange['encoding'];
  /** The way the connection breaks, if there was no complete response. */
  readonly breaks?: 'hang' | 'reset' | 'truncate';
}

/** A body with accounts: the text before their list, each account, and the text after it. */
interface Page {
  readonly before: string;
  readonly accounts: readonly string[];
  readonly after: string;
}

/**
 * Serves a recording: its accounts, envelope, header forms and page behavior. A repeated call gets its recorded
 * responses in order.
 */
export class Replay {
  /** The remaining exchanges of each call. The last one is reused. */
  readonly #left = new Map<string, Exchange[]>();
  readonly #pastTheEnd: Exchange | undefined;
  readonly #first: Exchange | undefined;
  readonly #form: Page | null;
  readonly #accounts: string[] = [];

  constructor({ exchanges }: Recording) {
    for (const exchange of exchanges) {
      const { PageNumber: number, PageSize: size } = exchange.query;
      const key = exchange.kind === 'token' ? TOKEN : `${number} ${size}`;
      this.#left.set(key, [...(this.#left.get(key) ?? []), exchange]);
    }
    const answered = exchanges.filter(({ status }) => status !== null);
    this.#pastTheEnd = answered.find(({ kind }) => kind === 'past-the-end');
    const pages = answered.filter(({ kind }) => kind === 'page');
    // the last pass began with the last request for page 1
    const begin = pages.findLastIndex(({ query, status }) => query['PageNumber'] === '1' && status === 200);
    const pass = pages.slice(Math.max(0, begin)).toSorted((a, b) => numberOf(a) - numberOf(b));
    for (const exchange of pass) this.#accounts.push(...(toPage(exchange)?.accounts ?? []));
    this.#first = pass[0];
    this.#form = pass[0] ? toPage(pass[0]) : null;
  }

  get count(): number {
    return this.#accounts.length;
  }

  #next(key: string): ReplayedAnswer | null {
    const left = this.#left.get(key);
    const exchange = left && left.length > 1 ? left.shift() : left?.[0];
    return exchange ? toAnswer(exchange) : null;
  }

  /** The recorded response of the token endpoint, with a token issued by the sandbox. */
  token(token: string, lifetimeSeconds: number): ReplayedAnswer | null {
    const answer = this.#next(TOKEN);
    if (answer?.status !== 200) return answer;
    try {
      const [, mark = '', json = ''] = /^(\ufeff?)(.*)$/s.exec(answer.body) ?? [];
      const body = JSON.parse(json) as Record<string, unknown>;
      // the gateway rejects such a response, also here
      if (typeof body['access_token'] !== 'string' || body['access_token'] === '') return answer;
      const lifetime = typeof body['expires_in'] === 'string' ? String(lifetimeSeconds) : lifetimeSeconds;
      const own = { access_token: token, ...('expires_in' in body && { expires_in: lifetime }) };
      return { ...answer, body: mark + JSON.stringify({ ...body, ...own }) };
    } catch {
      return answer;
    }
  }

  /** @param rowCount number of accounts to serve; the recording has `count` */
  page(number: number, size: number, rowCount: number): ReplayedAnswer | null {
    const isWhole = rowCount === this.count;
    const recorded = isWhole ? this.#next(`${number} ${size}`) : null;
    if (recorded) return recorded;
    if (!this.#first) return null;
    if (!this.#form) return toAnswer(this.#first);
    const from = (number - 1) * size;
    if (number > 1 && from >= rowCount && this.#pastTheEnd) return toAnswer(this.#pastTheEnd);
    const { before, after } = this.#form;
    const accounts = this.#accounts.slice(0, rowCount).slice(from, from + size);
    const fill = (text: string) =>
      Object.entries({ currentPage: number, pageSize: size, rowCount }).reduce(
        (filled, [key, value]) => filled.replace(new RegExp(`("${key}"\\s*:\\s*"?)\\d+`), `$1${value}`),
        text,
      );
    return { ...toAnswer(this.#first), body: `${fill(before)}${accounts.join(',')}${fill(after)}` };
  }
}

const TOKEN = 'token';
/** The way the connection broke, by the code of the call that failed. */
const BREAKS = new Map([
  ['bank-timeout', 'hang'],
  ['bank-response-invalid', 'truncate'],
] as const) as ReadonlyMap<string, ReplayedAnswer['breaks']>;
const UNFINISHED = '{"result":[]}';

const numberOf = ({ query }: Exchange): number => Number(query['PageNumber']);

function toAnswer({ status, failure, headers, body, encoding }: Exchange): ReplayedAnswer {
  if (status !== null) return { status, headers: {}, body, recorded: headers, encoding };
  const breaks = BREAKS.get(failure ?? '') ?? 'reset';
  return { status: 200, headers: {}, body: UNFINISHED, recorded: {}, breaks };
}

/** Matches an escape, or a character that matters to `toPage`, in linear time for any text. */
const TOKEN_OF_JSON = /\\.|["{}[\],]/gs;

/** Null for a body without a list of accounts, which is `result`, else the first list of objects, as in the gateway. */
function toPage({ status, body }: Exchange): Page | null {
  const start = status === 200 ? (/"result"\s*:\s*\[/.exec(body) ?? /\[(?=\s*\{)/.exec(body)) : null;
  if (!start) return null;
  const from = start.index + start[0].length;
  const accounts: string[] = [];
  let [depth, begin, inText] = [0, from, false];
  for (const { 0: token, index } of body.slice(from).matchAll(TOKEN_OF_JSON)) {
    const at = from + index;
    if (token === '"') inText = !inText;
    if (inText) continue;
    if (depth === 0 && (token === ',' || token === ']')) {
      const account = body.slice(begin, at).trim();
      if (account !== '') accounts.push(account);
      begin = at + 1;
      if (token === ']') return { before: body.slice(0, from), accounts, after: body.slice(at) };
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return null;
}
