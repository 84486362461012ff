import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { sampleId } from '../support/sample-accounts.js';
import type { Dice } from './dice.js';
import { ACCOUNTS } from './soak-bank.js';
import type { Call } from './judge.js';

const GIVES_UP_AFTER_MS = 20_000;

/** The callers of the gateway at `url`; each call that ends is reported, answered or not. */
export class Callers {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #underWay = new Set<Promise<void>>();
  /** Callers who hung up on purpose. */
  left = 0;
  #going = true;

  constructor(
    private readonly url: string,
    private readonly dice: Dice,
    private readonly onAnswer: (call: Call) => void,
    private readonly onLost: (path: string, reason: string) => void,
  ) {}

  /** Callers that ask one thing after the other. */
  start(steady: number, leaving: number): void {
    for (let each = 0; each < steady; each++) this.#go(() => this.#askAnything(this.#agent));
    for (let each = 0; each < leaving; each++) this.#go(() => this.#leave());
  }

  async burst(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#askAnything(undefined)));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#underWay);
    this.#agent.destroy();
  }

  #go(step: () => Promise<unknown>): void {
    const going = async () => {
      while (this.#going) {
        await step();
        await delay(this.dice.between(0, 60));
      }
    };
    this.#underWay.add(going());
  }

  async #askAnything(agent: Agent | undefined): Promise<void> {
    const { dice } = this;
    const path = dice.pick([
      '/api/v1/accounts',
      '/api/v1/accounts',
      '/api/v1/accounts?pageSize=1000',
      `/api/v1/accounts?pageNumber=${dice.between(1, 3)}&sort=-current`,
      `/api/v1/accounts/${sampleId(dice.between(1, ACCOUNTS))}`,
      '/api/v1/accounts?format=ndjson',
    ]);
    const cacheControl = dice.pick([null, null, null, null, 'no-cache', 'max-age=1', 'only-if-cached']);
    const sentAt = Date.now();
    try {
      const answer = await ask(`${this.url}${path}`, cacheControl, agent);
      this.onAnswer({ path, cacheControl, sentAt, receivedAt: Date.now(), ...answer });
    } catch (error) {
      this.onLost(path, (error as NodeJS.ErrnoException).code ?? (error as Error).message);
    }
  }

  /** Asks, and hangs up before or in the middle of the answer. */
  async #leave(): Promise<void> {
    const { port, hostname } = new URL(this.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(
      `GET /api/v1/accounts?pageSize=${this.dice.between(1, 1000)} HTTP/1.1\r\nHost: localhost\r\nCache-Control: no-cache\r\n\r\n`,
    );
    await delay(this.dice.between(0, 40));
    if (this.dice.chance(0.5)) socket.resetAndDestroy();
    else socket.destroy();
    this.left += 1;
  }
}

type Answered = Pick<Call, 'status' | 'headers' | 'text'>;

/** One GET; rejects when there is no whole answer. */
export function ask(url: string, cacheControl: string | null, agent?: Agent): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const headers = cacheControl === null ? {} : { 'cache-control': cacheControl };
  const signal = AbortSignal.timeout(GIVES_UP_AFTER_MS);
  request(url, { headers, agent: agent ?? false, signal }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
  })
    .on('error', reject)
    .end();
  return promise;
}
