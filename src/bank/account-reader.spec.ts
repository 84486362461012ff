import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepLines } from '../../test/support/log-lines.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { NoToken, type AuthorizedCall } from '../auth/authorized-call.js';
import type { Settings } from '../config/settings.js';
import type { WireAnswer } from '../egress/wire-client.js';
import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { AccountReader } from './account-reader.js';
import type { BankAccount } from '../list/bank-account.js';
import { ListDrift } from '../list/list-drift.js';
import { readPage } from '../list/bank-page.js';
import type { ListOutcome } from './paging.js';

interface Row {
  readonly accountId: string;
  readonly friendlyName: string;
}
const account = (id: number | string, name = `name ${id}`): Row => ({ accountId: `a-${id}`, friendlyName: name });
const accounts = (count: number, from = 0) => Array.from({ length: count }, (_, index) => account(from + index));

type Read = ListOutcome & { readonly list: readonly BankAccount[] };
const ids = ({ list }: Read) => list.map(({ accountId }) => accountId);

type Change = { readonly rowCount?: number | null; readonly echoedSize?: number | null };
const answer = (status: number, body: object = {}, retryAfter?: string): WireAnswer => ({
  status,
  body: Buffer.from(JSON.stringify(body)),
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
});
const page = (result: readonly Row[], { rowCount, echoedSize }: Change = {}) =>
  answer(200, { result, pageInfo: { rowCount, pageSize: echoedSize } });

interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

interface ModelBank {
  readonly size: number;
  /** The bank's largest page, whatever PageSize is. */
  readonly clamp: number;
  readonly echoes: boolean;
  readonly counts: boolean;
  /** 400 only with a count. */
  readonly pastEnd: 200 | 404 | 400;
}

/** A bank whose accounts do not change. It sends rowCount and pageSize unless the options turn them off. */
function answerAs(change: Partial<ModelBank> & Pick<ModelBank, 'size'>): (request: PageRequest) => WireAnswer {
  const bank: ModelBank = { clamp: 10, echoes: true, counts: true, pastEnd: 200, ...change };
  const all = accounts(bank.size);
  return ({ pageNumber, pageSize }) => {
    const size = Math.min(pageSize, bank.clamp);
    const rows = all.slice((pageNumber - 1) * size, pageNumber * size);
    const pastEnd = bank.counts || bank.pastEnd !== 400 ? bank.pastEnd : 404;
    if (rows.length === 0 && pageNumber > 1 && pastEnd !== 200) return answer(pastEnd, { errors: { PageSize: [] } });
    return page(rows, { rowCount: bank.counts ? bank.size : null, echoedSize: bank.echoes ? size : null });
  };
}

/** A reader with a scripted bank. Records every request. */
function begin(
  answerTo: (request: PageRequest, nth: number) => WireAnswer | Promise<WireAnswer>,
  { pageSize = 10, maxConcurrentRequests = 3, readTimeoutMs = 60_000 } = {},
) {
  const requests: PageRequest[] = [];
  let underWay = 0;
  const most = { underWay: 0 };
  const { log, lines } = keepLines();
  const reader = new AccountReader(
    {
      get: async ({ query, signal, judge = () => null }) => {
        const request = { pageNumber: Number(query['PageNumber']), pageSize: Number(query['PageSize']), signal };
        requests.push(request);
        underWay += 1;
        most.underWay = Math.max(most.underWay, underWay);
        try {
          await new Promise((resolve) => setImmediate(resolve));
          request.signal.throwIfAborted();
          const given = await answerTo(request, requests.length);
          return { ...given, error: judge(given) };
        } finally {
          underWay -= 1;
        }
      },
    } as AuthorizedCall,
    {
      BANK_PAGE_SIZE: pageSize,
      BANK_MAX_CONCURRENT_REQUESTS: maxConcurrentRequests,
      SNAPSHOT_READ_TIMEOUT_MS: readTimeoutMs,
    } as Settings,
    log,
  );
  const read = async (signal = new AbortController().signal): Promise<Read> => {
    let list = new Map<string, BankAccount>();
    const take = (each: BankAccount) => {
      const isNew = !list.has(each.accountId);
      list.set(each.accountId, each);
      return isNew;
    };
    const outcome = await reader.read('refresh-1', signal, async (number, body) => {
      if (number === 1) list = new Map();
      // no spaces after a page that is meant to be long
      return readPage(number, body.subarray(0, body.lastIndexOf('}') + 1), new ListDrift(), take);
    });
    return { ...outcome, list: [...list.values()] };
  };
  return { read, requests, most, lines, numbers: () => requests.map(({ pageNumber }) => pageNumber) };
}

describe('a list that does not change', () => {
  const bank = fc.record<ModelBank>({
    size: fc.nat({ max: 130 }),
    clamp: fc.integer({ min: 1, max: 60 }),
    echoes: fc.boolean(),
    counts: fc.boolean(),
    pastEnd: fc.constantFrom(200, 404, 400),
  });

  it('is read exactly and in order, with the minimum number of requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        bank,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 6 }),
        async (model, pageSize, maxConcurrentRequests) => {
          const { read, requests, most } = begin(answerAs(model), { pageSize, maxConcurrentRequests });
          const list = await read();
          expect(ids(list)).toEqual(accounts(model.size).map(({ accountId }) => accountId));
          expect(list.complete).toBe(model.counts ? true : null);
          const size = Math.min(pageSize, model.clamp);
          const pages = Math.max(1, Math.ceil(model.size / size));
          expect(list.pages).toBe(pages);
          const isLastFull = model.size > 0 && model.size % size === 0 && (model.echoes || size === pageSize);
          expect(requests.length).toBeGreaterThanOrEqual(pages);
          expect(requests.length).toBeLessThanOrEqual(model.counts && !isLastFull ? pages : pages + 1);
          expect(most.underWay).toBeLessThanOrEqual(maxConcurrentRequests);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('has its pages read in parallel if there is a count', async () => {
    const { read, most } = begin(answerAs({ size: 95, clamp: 50 }), {
      pageSize: 10,
      maxConcurrentRequests: 4,
    });
    await read();
    expect(most.underWay).toBe(4);
  });

  it.each([
    [0, true],
    [null, null],
  ])('is read with one request if it is empty (count %p): complete is %p', async (rowCount, complete) => {
    const { read, numbers } = begin(() => page([], { rowCount }));
    expect(await read()).toEqual({ accounts: 0, list: [], complete, pages: 1 });
    expect(numbers()).toEqual([1]);
  });
});

describe('a list that changes while it is read', () => {
  /** Twenty accounts in two pages. Each pass follows its own rule. */
  const passes = (...rules: ((pageNumber: number) => WireAnswer)[]) => {
    let pass = -1;
    return ({ pageNumber }: PageRequest) => {
      if (pageNumber === 1) pass += 1;
      return rules[Math.min(pass, rules.length - 1)]?.(pageNumber) ?? page([]);
    };
  };
  const slice = (all: readonly Row[], rowCount: number | null) => (number: number) =>
    page(all.slice((number - 1) * 10, number * 10), { rowCount });
  const good = slice(accounts(20), 20);
  /** An account was inserted at the front between the pages: the last account of page 1 comes again on page 2. */
  const shifted = (rowCount: number | null) => (number: number) =>
    slice(number === 1 ? accounts(20) : [account('new'), ...accounts(19)], rowCount)(number);
  const recounted = (number: number) => slice(accounts(20), number === 2 ? 21 : 20)(number);
  const grown = (number: number) => slice(accounts(23), number === 1 ? 20 : 23)(number);

  it.each<[string, (request: PageRequest) => WireAnswer, number, boolean | null, number[]]>([
    ['an account shows twice, once', passes(shifted(20), good), 20, true, [1, 2, 3, 1, 2, 3]],
    ['an account shows twice, always', passes(shifted(20)), 19, false, [1, 2, 3, 1, 2, 3]],
    ['an account shows twice without a count', passes(shifted(null)), 19, false, [1, 2, 3, 1, 2, 3]],
    ['its count changes between the pages, once', passes(recounted, good), 20, true, [1, 2, 3, 1, 2, 3]],
    ['its count grows', passes(grown, slice(accounts(23), 23)), 23, true, [1, 2, 3, 1, 2, 3]],
    ['the bank counts more than it gives', passes(slice(accounts(10), 12)), 10, false, [1, 2, 1, 2]],
    ['the bank counts fewer than it gives', passes(slice(accounts(10), 9)), 10, false, [1, 2, 1, 2]],
    ['the bank counts one page only', passes(slice(accounts(25), 10)), 25, false, [1, 2, 3, 1, 2, 3]],
    ['the bank counts 20 at most', passes(slice(accounts(35), 20)), 35, false, [1, 2, 3, 4, 1, 2, 3, 4]],
    [
      'the bank sends its last page for each one after it',
      ({ pageNumber }) => good(Math.min(pageNumber, 2)),
      20,
      true,
      [1, 2, 3],
    ],
    ['the bank has no pages, and counts one full page', () => slice(accounts(10), 10)(1), 10, true, [1, 2]],
    ['the bank counts none, and gives pages', passes(slice(accounts(15), 0)), 15, false, [1, 2, 3, 1, 2, 3]],
    ['an account is twice on one page', () => page([account(1), account(1)], { rowCount: 2 }), 1, false, [1, 2, 1, 2]],
  ])('%s', async (_name, answer, count, complete, asked) => {
    const { read, numbers } = begin(answer, { maxConcurrentRequests: 1 });
    const list = await read();
    expect([list.accounts, ids(list).length, list.complete, numbers()]).toEqual([count, count, complete, asked]);
  });

  it("keeps the later page's version of an account, whichever page arrives first", async () => {
    const answers: Record<number, WireAnswer> = {
      1: page([account(1), account(2)], { rowCount: 6 }),
      2: page([account(3, 'older'), account(4)], { rowCount: 6 }),
      3: page([account(5), account(3, 'newer')], { rowCount: 6 }),
    };
    const { read } = begin(async ({ pageNumber }) => {
      if (pageNumber === 2) await new Promise((resolve) => setTimeout(resolve, 20));
      return answers[pageNumber] ?? page([]);
    });
    const list = await read();
    expect(list.list.find(({ accountId }) => accountId === 'a-3')?.friendlyName).toBe('newer');
    expect(ids(list)).toHaveLength(5);
  });
});

describe('a list that never ends', () => {
  it.each<[string, (pageNumber: number) => WireAnswer, number, boolean | null, number[]]>([
    ['the same page comes again and again', () => page(accounts(10)), 10, false, [1, 2, 1, 2]],
    ['the bank has no pages, and the whole list is shorter than one', () => page(accounts(4)), 4, null, [1, 2]],
    ['two pages take turns', (number) => page(accounts(10, (number % 2) * 10)), 20, false, [1, 2, 3, 1, 2, 3]],
  ])('ends although %s', async (_name, answer, count, complete, asked) => {
    const { read, numbers } = begin(({ pageNumber }) => answer(pageNumber));
    const list = await read();
    expect([ids(list).length, list.complete, numbers()]).toEqual([count, complete, asked]);
  });

  it('ends early if the bank repeats a page and reports a large count', async () => {
    const { read, requests } = begin(() => page(accounts(10), { rowCount: 999_999_999 }), { maxConcurrentRequests: 6 });
    expect((await read()).complete).toBe(false);
    expect(requests.length).toBeLessThanOrEqual(2 * (1 + 2 * 6));
  });

  it('is rejected after 2000 pages if the bank sends one account per page and reports a large count', async () => {
    const onePerPage = ({ pageNumber }: PageRequest) => page(accounts(1, pageNumber), { rowCount: 999_999_999 });
    const { read, requests } = begin(onePerPage, { maxConcurrentRequests: 6 });
    const error = await rejectionOf(read);
    expect([error.code, error.detail]).toEqual([
      'bank-response-invalid',
      'The account list has more than 2000 pages in one refresh.',
    ]);
    expect(requests).toHaveLength(2000);
  });
});

describe('the bytes of the pages of a refresh', () => {
  const MB = 1024 * 1024;
  /** Pages padded with spaces, with one account each. */
  const long =
    (bytes: number, pages: number, rowCount = pages) =>
    (request: PageRequest) => {
      const { body, ...rest } = page(request.pageNumber > pages ? [] : accounts(1, request.pageNumber), { rowCount });
      return { ...rest, body: Buffer.concat([body, Buffer.alloc(bytes - body.length, ' ')]) };
    };

  it('are at most 256 MB', async () => {
    expect(await begin(long(32 * MB, 8)).read()).toMatchObject({ accounts: 8, complete: true });
    const error = await rejectionOf(begin(long(32 * MB, 9)).read);
    expect([error.code, error.detail]).toEqual([
      'bank-response-invalid',
      'The account list has more than 256 MB of pages in one refresh.',
    ]);
  });

  it('rule out a second pass if the list has more than half of that', async () => {
    const { read, numbers } = begin(long(32 * MB, 5, 6));
    expect([(await read()).complete, new Set(numbers()).size]).toEqual([false, numbers().length]);
  });

  it('requested ahead are at most 32 MB', async () => {
    const { read, most } = begin(long(16 * MB, 8), { maxConcurrentRequests: 6 });
    for (let refresh = 0; refresh < 2; refresh++) await read();
    expect(most.underWay).toBe(2);
  });
});

describe('a page size that the bank rejects', () => {
  const upTo = (most: number, size: number) => {
    const answerTo = answerAs({ size, clamp: 5000 });
    return (request: PageRequest) => (request.pageSize > most ? answer(413) : answerTo(request));
  };

  it('becomes the configured one again after five complete refreshes with a smaller one', async () => {
    let most = 3;
    const { read, requests } = begin((request) => upTo(most, 30)(request), { pageSize: 10 });
    await read();
    most = 10;
    const sizes = [];
    for (let refresh = 0; refresh < 5; refresh++) {
      requests.length = 0;
      await read();
      sizes.push(requests[0]?.pageSize);
    }
    expect(sizes).toEqual([2, 2, 2, 2, 10]);
  });

  it('is halved until it fits, and remembered', async () => {
    const { read, requests } = begin(upTo(100, 230), { pageSize: 1000 });
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([230, true]);
    expect([...new Set(requests.map((request) => request.pageSize))]).toEqual([1000, 500, 250, 125, 62]);
    requests.length = 0;
    await read();
    expect(new Set(requests.map((request) => request.pageSize))).toEqual(new Set([62]));
  });

  it.each([
    [413, {}],
    [400, { errors: { PageSize: ['must be between 1 and 20'] } }],
    [400, { errors: [{ errorCode: 'InvalidpageSize' }] }],
    [400, { title: 'page_size is too large' }],
  ])('is recognized by a %i with %j', async (status, problem) => {
    const good = answerAs({ size: 15 });
    const { read } = begin((request) => (request.pageSize > 5 ? answer(status, problem) : good(request)));
    expect(ids(await read())).toHaveLength(15);
  });

  it('the negative case: a 400 that does not name the page size is not about it', async () => {
    const { read, requests } = begin(() => answer(400, { errors: { PageNumber: ['is wrong'] } }));
    expect([(await rejectionOf(read)).code, requests.length]).toEqual(['bank-refused', 1]);
  });

  it('restarts the pass when it is rejected on a later page', async () => {
    const answerTo = answerAs({ size: 95, clamp: 5000 });
    const { read } = begin(
      (request) => (request.pageSize > 30 && request.pageNumber === 2 ? answer(413) : answerTo(request)),
      { pageSize: 60 },
    );
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([95, true]);
  });

  it('fails the refresh if even 1 is rejected; the next refresh starts with the configured size', async () => {
    let rejects = true;
    const good = answerAs({ size: 230, clamp: 5000 });
    const { read, requests } = begin((request) => (rejects ? answer(413) : good(request)), { pageSize: 5000 });
    const error = await rejectionOf(read);
    expect([error.code, error.detail]).toEqual([
      'bank-refused',
      'The account list answered 413. It rejects every page size; check BANK_PAGE_SIZE.',
    ]);
    expect(requests.length).toBeLessThan(20);
    rejects = false;
    requests.length = 0;
    await read();
    expect(requests.map((request) => request.pageSize)).toEqual([5000]);
  });

  it('is logged each time it is reduced', async () => {
    const { read, lines } = begin(upTo(300, 10), { pageSize: 1000 });
    await read();
    expect(lines()).toMatchObject([
      { level: 'info', event: 'bank.page-refused', refreshId: 'refresh-1', pageSize: 1000 },
      { level: 'info', event: 'bank.page-refused', refreshId: 'refresh-1', pageSize: 500 },
    ]);
  });

  it('becomes the configured one again after a failed refresh', async () => {
    let most = 100;
    let fails = false;
    const good = answerAs({ size: 230, clamp: 5000 });
    const { read, requests } = begin(
      (request) => (fails ? answer(500) : request.pageSize > most ? answer(413) : good(request)),
      { pageSize: 200 },
    );
    await read();
    [most, fails] = [5000, true];
    await rejectionOf(read);
    fails = false;
    requests.length = 0;
    await read();
    expect(new Set(requests.map(({ pageSize }) => pageSize))).toEqual(new Set([200]));
  });
});

const unreachable = (): never => {
  throw new GatewayError('bank-unreachable', 'down');
};

/** The token endpoint asks us to wait. */
const askToWait = (retryAfterMs: number): never => {
  throw new NoToken('bank-rate-limited', 'later', { isAskedToWait: true, retryAfterMs });
};

describe('a bank that asks us to wait', () => {
  it.each<[string, () => WireAnswer]>([
    ['429', () => answer(429, {}, '1')],
    ['429 without a time', () => answer(429)],
    ['503 with Retry-After', () => answer(503, {}, '1')],
    ['a token request', () => askToWait(1000)],
  ])('with %s gets the page again after that time, and the list is complete', async (_name, deny) => {
    const all = answerAs({ size: 25 });
    const { read, requests } = begin((request, nth) => (nth === 1 ? deny() : all(request)));
    const began = performance.now();
    expect((await read()).accounts).toBe(25);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
    expect(requests.filter(({ pageNumber }) => pageNumber === 1)).toHaveLength(2);
  });

  it('gets one page at a time from then on', async () => {
    const all = answerAs({ size: 95 });
    const seen = new Set<number>();
    const { read, most } = begin((request) => {
      const { pageNumber } = request;
      const isRefused = (pageNumber === 2 || pageNumber === 3) && !seen.has(pageNumber);
      // the others of the burst have been answered by the time the first retry arrives
      if (pageNumber === 2 && !isRefused) most.underWay = 0;
      seen.add(pageNumber);
      return isRefused ? answer(429, {}, '1') : all(request);
    });
    expect(await read()).toMatchObject({ accounts: 95, complete: true });
    expect(most.underWay).toBe(1);
  });

  it('fails the refresh once it asks for more time than is left', async () => {
    const { read, requests } = begin(() => answer(429, {}, '1'), { readTimeoutMs: 2000 });
    expect(await rejectionOf(read)).toMatchObject({ code: 'bank-rate-limited', retryAfterMs: 1000 });
    expect(requests).toHaveLength(2);
  });
});

describe('a first page that is rejected for no given reason', () => {
  it.each([400, 404, 408, 409, 422])(
    'with %i is requested once more with the documented size of 50',
    async (status) => {
      const all = answerAs({ size: 120, clamp: 5000 });
      const { read, requests, lines } = begin((request) => (request.pageSize > 50 ? answer(status) : all(request)), {
        pageSize: 1000,
      });
      expect(await read()).toMatchObject({ accounts: 120, complete: true });
      expect(requests.map(({ pageSize }) => pageSize)).toEqual([1000, 50, 50, 50]);
      expect(lines()).toMatchObject([{ event: 'bank.page-refused', pageSize: 1000, next: 50 }]);
    },
  );

  it.each<[string, number, number, ProblemCode, number]>([
    ['with another size', 1000, 404, 'access-not-granted', 2],
    ['that is not about the request', 1000, 403, 'bank-refused', 1],
    ['of the documented size', 50, 404, 'access-not-granted', 1],
  ])('the negative case: a rejection %s fails the refresh', async (_name, pageSize, status, code, times) => {
    const { read, requests } = begin(() => answer(status), { pageSize });
    expect((await rejectionOf(read)).code).toBe(code);
    expect(requests).toHaveLength(times);
  });
});

describe('a call for a page that fails', () => {
  it.each<[string, () => WireAnswer, number]>([
    ['a connection failure', unreachable, 2],
    ['502', () => answer(502), 2],
    ['503', () => answer(503), 2],
    ['504', () => answer(504), 2],
    ['504 with Retry-After', () => answer(504, {}, '1'), 1],
    ['429, which asks for more time than the refresh has', () => answer(429, {}, '61'), 1],
    ['503, which asks for more time than the refresh has', () => answer(503, {}, '61'), 1],
    ['a token that is long in coming', () => askToWait(6000), 1],
    ['500', () => answer(500), 1],
    ['404', () => answer(404), 1],
    [
      'a timeout',
      () => {
        throw new GatewayError('bank-timeout', 'late');
      },
      1,
    ],
    [
      'no token',
      () => {
        throw new NoToken('bank-unreachable', 'down');
      },
      1,
    ],
  ])('with %s is sent %s times in total', async (_name, fail, times) => {
    const { read, requests } = begin(fail);
    await rejectionOf(read);
    expect(requests).toHaveLength(times);
  });
});

describe('a bank that limits calls at the same time', () => {
  const limited = (most: number, turnAway: () => WireAnswer) => {
    const answerTo = answerAs({ size: 95 });
    let underWay = 0;
    return begin(
      async (request) => {
        if (underWay === most) return turnAway();
        underWay += 1;
        // a call takes longer than the others need to be sent
        await new Promise((resolve) => setTimeout(resolve, 10));
        underWay -= 1;
        return answerTo(request);
      },
      { maxConcurrentRequests: 6 },
    );
  };

  it.each<[number, string, () => WireAnswer]>([
    [1, 'with 503', () => answer(503)],
    [5, 'with 503', () => answer(503)],
    [2, 'by closing connections', unreachable],
  ])('to %i, %s: every list is read', async (most, _how, turnAway) => {
    const { read, requests } = limited(most, turnAway);
    for (let list = 0; list < 3; list += 1) {
      expect(ids(await read())).toHaveLength(95);
      // each of the 10 pages is asked for at most twice, and only those asked for at once
      expect(requests.splice(0).length).toBeLessThanOrEqual(10 + 5);
    }
  });

  it('the negative case: pages that fail one at a time do not slow the others down', async () => {
    const answerTo = answerAs({ size: 95 });
    const { read, most } = begin((request, nth) => (nth === 4 ? answer(503) : answerTo(request)));
    expect(ids(await read())).toHaveLength(95);
    expect(most.underWay).toBe(3);
  });
});

describe('a refresh that fails', () => {
  it('fails as a whole, whichever page fails', async () => {
    const answerTo = answerAs({ size: 95 });
    for (const bad of [1, 2, 5, 10]) {
      const { read } = begin((request) => {
        if (request.pageNumber === bad) throw new GatewayError('bank-timeout', `page ${bad}`);
        return answerTo(request);
      });
      expect((await rejectionOf(read)).detail).toMatch(new RegExp(`^page ${bad}\\b`));
    }
  });

  it('aborts its other requests and starts no new ones', async () => {
    const answerTo = answerAs({ size: 1000 });
    const { read, requests } = begin((request) => {
      if (request.pageNumber === 4) throw new GatewayError('bank-timeout', 'page 4');
      return answerTo(request);
    });
    await rejectionOf(read);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(requests.length).toBeLessThan(12);
    expect(requests.every(({ signal }) => signal.aborted)).toBe(true);
  });

  it('fails with the reason of its signal when it is aborted from outside', async () => {
    const end = new AbortController();
    const { read } = begin(({ pageNumber }) => {
      if (pageNumber === 3) end.abort(new GatewayError('stopping', 'bye'));
      return page(accounts(10, pageNumber * 10));
    });
    expect((await rejectionOf(() => read(end.signal))).code).toBe('stopping');
  });
});

describe('a refresh after one that had a count', () => {
  it('requests as many pages as last time in parallel, before the first has arrived', async () => {
    const firstPage = Promise.withResolvers<void>();
    let refreshes = 0;
    const { read, numbers, most } = begin(async (request) => {
      if (request.pageNumber === 1 && ++refreshes === 2) await firstPage.promise;
      return answerAs({ size: 25, pastEnd: 404 })(request);
    });
    await read();
    const reading = read();
    while (numbers().length < 6) await new Promise((resolve) => setImmediate(resolve));
    expect(numbers().slice(3)).toEqual([1, 2, 3]);
    firstPage.resolve();
    const list = await reading;
    expect([ids(list).length, list.complete, numbers().length, most.underWay]).toEqual([25, true, 6, 3]);
  });

  it('is correct when the list has become shorter or longer', async () => {
    let size = 25;
    const { read } = begin((request) => answerAs({ size, pastEnd: 404 })(request));
    for (size of [25, 4, 0, 41, 10, 11]) {
      const list = await read();
      expect([ids(list).length, list.complete]).toEqual([size, true]);
    }
  });
});
