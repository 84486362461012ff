import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Answer } from '../src/answer-reader.js';
import { createClient, GatewayProblem, type AccountList } from '../src/index.js';
import { watch, type Changes } from '../src/watch.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** A response with these ids and balances. */
function answer(
  accounts: Record<string, string>,
  { maxAgeMs = 10_000, stale = false, etag = '', expiresInMs = null as number | null } = {},
) {
  const body = {
    accounts: Object.entries(accounts).map(([id, current]) => ({ id, balances: [{ current }] })),
    page: { number: 1, size: 50, total: Object.keys(accounts).length, hasMore: false },
    snapshot: { asOf: new Date().toISOString(), stale, complete: true },
  } as unknown as AccountList;
  return { body, maxAgeMs, expiresInMs, etag: etag || JSON.stringify([accounts, stale]) };
}
const problem = (status: number, retryAfterMs: number | null = null, code = 'bank-error') =>
  new GatewayProblem({ code, owner: 'bank', message: 'x', status, retryAfterMs });

/** A watch that gets these responses, the last one repeatedly. */
function start(...answers: (Answer<AccountList> | Error)[]) {
  const seen: (Changes | number | 'expired')[] = [];
  let polls = 0;
  const poll = () => {
    polls += 1;
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next as Answer<AccountList>);
  };
  const shown: (string | null)[] = [];
  const { close } = watch(poll, {
    onData: (_answer, changes) => void seen.push(changes),
    onError: ({ status }, snapshot) => {
      seen.push(status);
      shown.push(snapshot?.asOf ?? null);
    },
    onExpired: () => void seen.push('expired'),
  });
  return { seen, shown, close, polls: () => polls };
}
async function pass(ms: number): Promise<void> {
  await tick();
  jest.advanceTimersByTime(ms);
  await tick();
}
const NONE = { added: [], changed: [], removed: [] };

/** A `document` that, like that of jsdom, rejects a signal of the platform. */
class PageOfAnotherRealm extends EventTarget {
  readonly visibilityState = 'visible';
  readonly listeners = new Set<unknown>();
  override addEventListener(...[type, listener, options]: Parameters<EventTarget['addEventListener']>): void {
    if (typeof options === 'object' && options.signal) throw new TypeError('signal is not of type AbortSignal');
    this.listeners.add(listener);
    super.addEventListener(type, listener, options);
  }
  override removeEventListener(...[type, listener, options]: Parameters<EventTarget['removeEventListener']>): void {
    this.listeners.delete(listener);
    super.removeEventListener(type, listener, options);
  }
}

describe('watch', () => {
  it('polls one second after max-age has passed, not before: max-age is rounded down', async () => {
    const { polls, close } = start(answer({ a: '1' }), answer({ a: '1' }, { maxAgeMs: 0 }));
    await pass(10_999);
    expect(polls()).toBe(1);
    await pass(1);
    expect(polls()).toBe(2);
    await pass(999);
    expect(polls()).toBe(2);
    await pass(1);
    expect(polls()).toBe(3);
    close();
  });

  it('polls in a page of another realm, such as the jsdom of an app, and leaves no listener behind', async () => {
    const page = new PageOfAnotherRealm();
    Object.assign(globalThis, { document: page });
    try {
      const { polls, close } = start(answer({ a: '1' }));
      for (let poll = 2; poll <= 4; poll += 1) await pass(11_000);
      expect(polls()).toBe(4);
      expect(page.listeners.size).toBe(1);
      close();
      await tick();
      expect(page.listeners.size).toBe(0);
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
  });

  it('does not flood the gateway if a proxy sets a max-age of years, longer than any timer', async () => {
    let polls = 0;
    const fetch = async () => {
      polls += 1;
      return Response.json(answer({ a: '1' }).body, { headers: { 'cache-control': 'max-age=315360000' } });
    };
    const client = createClient({ baseUrl: 'http://gateway.example', fetch });
    const answered = Promise.withResolvers<void>();
    const { close } = client.watch({}, { onData: () => answered.resolve() });
    await answered.promise;
    for (let count = 0; count < 4; count += 1) await pass(11_000);
    expect(polls).toBe(1);
    close();
  });

  it('reports added, changed and removed ids, none with the first response', async () => {
    const { seen, close } = start(answer({ a: '1', b: '2' }), answer({ a: '1.0', c: '3' }));
    await pass(11_000);
    expect(seen).toEqual([NONE, { added: ['c'], changed: ['a'], removed: ['b'] }]);
    close();
  });

  it('reports a change of stale alone, but not of asOf or the ETag alone', async () => {
    const [fresh, stale] = [answer({ a: '1' }), answer({ a: '1' }, { stale: true })];
    const { seen, polls, close } = start(fresh, answer({ a: '1' }), answer({ a: '1' }, { etag: 'W/"other"' }), stale);
    for (let count = 0; count < 4; count += 1) await pass(11_000);
    expect(polls()).toBe(5);
    expect(seen).toEqual([NONE, NONE]);
    close();
  });

  it('reports new times of unchanged data, and only those', async () => {
    const confirmed: unknown[] = [];
    const [first, second, other] = [answer({ a: '1' }), answer({ a: '1' }), answer({ a: '2' })];
    const answers = [first, second, other, other];
    const poll = async () => answers.shift() ?? other;
    const { close } = watch(poll, { onData: () => undefined, onConfirmed: (snapshot) => confirmed.push(snapshot) });
    for (let count = 0; count < 3; count += 1) await pass(11_000);
    expect(confirmed).toEqual([second.body.snapshot, other.body.snapshot]);
    close();
  });

  it('always reports the first success after an error, with the changes since the last one', async () => {
    const { seen, close } = start(answer({ a: '1' }), problem(502), answer({ a: '1' }), problem(502), answer({}));
    await pass(11_000);
    await pass(1000);
    await pass(11_000);
    await pass(1000);
    expect(seen).toEqual([NONE, 502, NONE, 502, { added: [], changed: [], removed: ['a'] }]);
    close();
  });

  it.each([
    ['after Retry-After', 4000, [4000, 4000]],
    ['else after 1 s, 2 s … 30 s', null, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  ])('polls again after an error %s', async (_name, retryAfterMs, waits) => {
    const { polls, seen, close } = start(problem(503, retryAfterMs));
    for (const [index, ms] of waits.entries()) {
      await pass(ms - 1);
      expect(polls()).toBe(index + 1);
      await pass(1);
      expect(polls()).toBe(index + 2);
    }
    expect(seen).toHaveLength(waits.length + 1);
    close();
  });

  it.each([400, 404, 421])('ends after a %i', async (status) => {
    const { polls, seen } = start(problem(status));
    await pass(60_000);
    expect([polls(), seen]).toEqual([1, [status]]);
  });

  it.each([408, 429, 500])('the negative case: continues after a %i', async (status) => {
    const { polls, close } = start(problem(status));
    await pass(1000);
    expect(polls()).toBe(2);
    close();
  });

  it('calls no handler after close, or with a signal that is already aborted', async () => {
    const { polls, seen, close } = start(answer({ a: '1' }));
    close();
    await pass(11_000);
    expect([polls(), seen]).toEqual([1, []]);
    watch(() => Promise.reject(new Error('asked')), { onData: () => seen.push(NONE) }, AbortSignal.abort());
    await pass(0);
    expect(seen).toEqual([]);
  });

  describe('the expiry of the shown data', () => {
    const lasting = (expiresInMs: number, more: Parameters<typeof answer>[1] = {}) =>
      answer({ a: '1' }, { expiresInMs, ...more });

    it('is reported once without newer data; the first success afterwards is data again', async () => {
      const { seen, close } = start(lasting(5000), problem(503, 20_000), problem(503, 1000), lasting(60_000));
      await pass(4999);
      expect(seen).toEqual([NONE]);
      await pass(1);
      expect(seen).toEqual([NONE, 'expired']);
      for (let seconds = 5; seconds < 32; seconds += 1) await pass(1000);
      expect(seen).toEqual([NONE, 'expired', 503, 503, NONE]);
      close();
    });

    it('the negative case: is not reported while polls confirm the data', async () => {
      const { seen, polls, close } = start(lasting(15_000));
      for (let count = 0; count < 5; count += 1) await pass(11_000);
      expect([polls(), seen]).toEqual([6, [NONE]]);
      close();
    });

    it('a response that expires right now is not reported as data', async () => {
      const { seen, close } = start(lasting(5000), lasting(0), lasting(60_000));
      for (let seconds = 0; seconds < 24; seconds += 1) await pass(1000);
      expect(seen).toEqual([NONE, 'expired', NONE]);
      close();
    });

    it('is reported before a later error, even if a timer fires late', async () => {
      const { seen, shown, close } = start(lasting(60_000), problem(502));
      await pass(0);
      // a laptop wakes up: the wall clock has advanced, and no timer has fired
      jest.setSystemTime(Date.now() + 3_600_000);
      await pass(11_000);
      expect([seen, shown]).toEqual([[NONE, 'expired', 502], [null]]);
      close();
    });

    it('is reported once, and at once, when access is withdrawn', async () => {
      const { shown, seen, close } = start(lasting(60_000), problem(502, null, 'access-not-granted'), problem(502));
      for (let count = 0; count < 70; count += 1) await pass(1000);
      expect(seen.slice(0, 3)).toEqual([NONE, 'expired', 502]);
      expect(seen.filter((each) => each === 'expired')).toHaveLength(1);
      expect(new Set(shown)).toEqual(new Set([null]));
      close();
    });

    it('is reported after an error that ended the polling, but not after close', async () => {
      const first = start(lasting(15_000), problem(403));
      const second = start(lasting(15_000), problem(403));
      await pass(11_000);
      second.close();
      await pass(11_000);
      expect([first.seen, second.seen]).toEqual([
        [NONE, 403, 'expired'],
        [NONE, 403],
      ]);
      first.close();
    });
  });

  it('adds to an error the time at which the data was last confirmed', async () => {
    const confirmed = answer({ a: '1' });
    Object.assign(confirmed.body.snapshot, { asOf: 'later' });
    const { shown, close } = start(answer({ a: '1' }), confirmed, problem(502));
    await pass(11_000);
    await pass(11_000);
    expect(shown).toEqual(['later']);
    close();
  });

  describe('refresh', () => {
    /** The `refresh` of each poll; polls end when the test says so. */
    function startSlow() {
      const asked: (boolean | undefined)[] = [];
      let end = () => {};
      const poll = ({ refresh }: { refresh?: boolean | undefined }) => {
        asked.push(refresh);
        return new Promise<Answer<AccountList>>((resolve) => (end = () => resolve(answer({ a: '1' }))));
      };
      const started = watch(poll, { onData: () => undefined });
      return { asked, ...started, end: async () => (end(), tick()) };
    }

    it('calls the bank now; the next poll is an ordinary one', async () => {
      const { asked, refresh, end, close } = startSlow();
      await end();
      refresh();
      await tick();
      expect(asked).toEqual([false, true]);
      await end();
      await pass(11_000);
      expect(asked).toEqual([false, true, false]);
      close();
    });

    it('during a poll causes one more poll afterwards, however often it is called', async () => {
      const { asked, refresh, end, close } = startSlow();
      refresh();
      refresh();
      expect(asked).toEqual([false]);
      await end();
      expect(asked).toEqual([false, true]);
      await end();
      await pass(10_999);
      expect(asked).toEqual([false, true]);
      close();
    });

    it('polls again after an error that ended the polling, once even if the handler of the error calls it', async () => {
      const answers = [problem(404), problem(404), answer({ a: '1' })];
      const asked: unknown[] = [];
      const poll = async ({ refresh }: { refresh?: boolean | undefined }) => {
        asked.push(refresh);
        const next = answers.shift() ?? answer({ a: '1' });
        if (next instanceof Error) throw next;
        return next;
      };
      const seen: unknown[] = [];
      const { refresh, close } = watch(poll, {
        onData: () => void seen.push('data'),
        onError: ({ status }) => {
          seen.push(status);
          if (seen.length === 2) refresh();
        },
      });
      await pass(60_000);
      expect(asked).toEqual([false]);
      refresh();
      await tick();
      expect([asked, seen]).toEqual([
        [false, true, true],
        [404, 404, 'data'],
      ]);
      await pass(11_000);
      expect(asked).toEqual([false, true, true, false]);
      close();
    });

    it('the negative case: does nothing after close', async () => {
      const { asked, refresh, end, close } = startSlow();
      await end();
      close();
      refresh();
      await pass(60_000);
      expect(asked).toEqual([false]);
    });
  });
});
