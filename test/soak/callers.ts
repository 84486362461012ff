import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dice } from '../../src/sandbox/accounts/dice.js';
import { get } from '../support/gateway.js';
import { sampleId } from '../support/sample-accounts.js';
import type { Call } from './judge.js';
import { ACCOUNTS } from './soak-bank.js';

/** Callers of the gateway at `url`; each call that ends is reported, answered or not. */
export class Callers {
  readonly #underWay: Promise<void>[] = [];
  #going = true;

  constructor(
    private readonly url: string,
    private readonly dice: Dice,
    private readonly onAnswer: (call: Call) => void,
    private readonly onLost: (path: string, reason: string) => void,
  ) {}

  /** Callers that ask one thing after the other, and callers that hang up. */
  start(steady: number, leaving: number): void {
    for (let each = 0; each < steady; each++) this.#underWay.push(this.#repeat(() => this.#ask()));
    for (let each = 0; each < leaving; each++) this.#underWay.push(this.#repeat(() => this.#leave()));
  }

  async burst(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#ask()));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#underWay);
  }

  async #repeat(step: () => Promise<void>): Promise<void> {
    while (this.#going) {
      await step();
      await delay(this.dice.int(0, 60));
    }
  }

  async #ask(): Promise<void> {
    const { dice } = this;
    const path = dice.pick([
      '/api/v1/accounts',
      '/api/v1/accounts?pageSize=1000',
      `/api/v1/accounts?pageNumber=${dice.int(1, 3)}&sort=-current`,
      `/api/v1/accounts/${sampleId(dice.int(1, ACCOUNTS))}`,
    ]);
    const cacheControl = dice.pick([null, null, null, 'no-cache', 'max-age=1', 'only-if-cached']);
    const sentAt = Date.now();
    try {
      const answer = await get(`${this.url}${path}`, cacheControl === null ? {} : { 'cache-control': cacheControl });
      this.onAnswer({ path, cacheControl, sentAt, receivedAt: Date.now(), ...answer });
    } catch (error) {
      this.onLost(path, (error as NodeJS.ErrnoException).code ?? (error as Error).message);
    }
  }

  /** Asks, and hangs up before or in the middle of the answer. */
  async #leave(): Promise<void> {
    const { port, hostname } = new URL(this.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write('GET /api/v1/accounts?pageSize=1000 HTTP/1.1\r\nHost: localhost\r\nCache-Control: no-cache\r\n\r\n');
    await delay(this.dice.int(0, 40));
    if (this.dice.chance(50)) socket.resetAndDestroy();
    else socket.destroy();
  }
}
