import { GatewayError } from '../../src/problems/gateway-error.js';
import type { WireAnswer, WireRequest } from '../../src/egress/wire-client.js';
import type { Draw, OddEvent } from './odd-days.js';
import type { VirtualTime } from './virtual-time.js';

const TOKEN_LIFETIME_S = 300;

interface Answer {
  /** Null: no connection. */
  readonly status: number | null;
  readonly ms: number;
  readonly body?: object;
  readonly retryAfter?: number;
}

/** A page of the list, in short. */
export interface ModelPage {
  readonly rows: number;
  readonly rowCount: number;
  readonly pageSize: number;
}

/** The files of one identity, as numbers: 0 at the beginning of the month, 1 after the change. */
export interface Files {
  readonly password: number;
  readonly certificate: number;
}

/** The bank as a function of time: request and true time in, answer out. */
export class BankModel {
  /** Must stay 0, and at most 1. */
  readonly misuse = { expiredTokens: 0, tokenRequestsAtOnce: 0 };
  #tokenRequests = 0;

  constructor(
    private readonly events: readonly OddEvent[],
    private readonly time: VirtualTime,
    private readonly draw: Draw,
    private readonly onAnswer: (target: WireRequest['target'], ms: number) => void,
  ) {}

  /** In place of `Egress.get`, with its deadline. */
  async get(request: WireRequest, files: Files, timeoutMs: number): Promise<WireAnswer> {
    const { trueMs: at } = this.time;
    const { target } = request;
    const { status, ms, body, retryAfter } = this.#answer(request, files, at);
    if (target === 'token') this.#tokenRequests += 1;
    this.misuse.tokenRequestsAtOnce = Math.max(this.misuse.tokenRequestsAtOnce, this.#tokenRequests);
    await this.time.wait(Math.min(ms, timeoutMs));
    if (target === 'token') this.#tokenRequests -= 1;
    this.onAnswer(target, Math.min(ms, timeoutMs));
    if (ms > timeoutMs) throw new GatewayError('bank-timeout', 'simulated');
    if (status === null) throw new GatewayError('bank-unreachable', 'simulated');
    const page = '<html>The SSL certificate error';
    const text = body ? JSON.stringify(body) : status === 400 ? page : '';
    const contentType = body ? 'application/json' : 'text/html';
    return { status, contentType, retryAfter: retryAfter?.toString() ?? null, pieces: [Buffer.from(text)] };
  }

  #answer(request: WireRequest, files: Files, at: number): Answer {
    const ms = request.target === 'token' ? this.draw(80, 400) : this.draw(150, 600);
    if (this.#during('down', at)) return { status: null, ms };
    if (this.#during('maintenance', at)) return { status: 503, ms };
    const known = (kind: OddEvent['kind']) => (this.#last(kind, at) ? 1 : 0);
    if (files.certificate === 1 && !this.events.some(({ kind, until }) => kind === 'certificate' && until <= at)) {
      return { status: 400, ms };
    }
    if (request.target === 'token') {
      if (files.password !== known('password')) return { status: 401, ms, body: {} };
      return {
        status: 200,
        ms,
        body: { access_token: `${files.certificate}.${at}`, expires_in: `${TOKEN_LIFETIME_S}` },
      };
    }
    return this.#list(request, at, ms);
  }

  #list({ headers, query = {} }: WireRequest, at: number, ms: number): Answer {
    const issued = Number(headers['Authorization']?.split('.')[1]);
    if (at > issued + TOKEN_LIFETIME_S * 1000) {
      this.misuse.expiredTokens += 1;
      return { status: 401, ms };
    }
    if (this.events.some(({ kind, from, until }) => kind === 'revoked' && from <= at && issued <= until)) {
      return { status: 401, ms };
    }
    const limited = this.#during('rate-limited', at);
    if (limited && this.draw(1, 10) <= 3) return { status: 429, ms, retryAfter: limited.value };
    if (this.#during('not-granted', at)) return { status: 404, ms };
    const rowCount = this.#last('accounts', at)?.value ?? 0;
    const [number, pageSize] = [Number(query['PageNumber']), Number(query['PageSize'])];
    const rows = Math.max(0, Math.min(pageSize, rowCount - (number - 1) * pageSize));
    const slow = this.#during('slow', at);
    const body: ModelPage = { rows, rowCount, pageSize };
    return { status: 200, ms: slow ? this.draw(slow.value / 4, slow.value) : ms, body };
  }

  #during(kind: OddEvent['kind'], at: number): OddEvent | undefined {
    return this.events.find((event) => event.kind === kind && event.from <= at && at < event.until);
  }

  #last(kind: OddEvent['kind'], at: number): OddEvent | undefined {
    return this.events.findLast((event) => event.kind === kind && event.from <= at);
  }
}
