import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { refusalOf } from '../../test/support/refusal-of.js';
import { GatewayError } from '../problems/gateway-error.js';
import { AccountReader, type AccountList } from './account-reader.js';
import type { BankAccount } from './account-fields.js';
import { PageReader } from './page-reader.js';
import type { PageAnswer, PageRequest } from './page-source.js';

interface Row {
  readonly accountId: string;
  readonly friendlyName: string;
}
const account = (id: number | string, name = `name ${id}`): Row => ({ accountId: `a-${id}`, friendlyName: name });
const accounts = (count: number, from = 0) => Array.from({ length: count }, (_, index) => account(from + index));

/** `readAgain`: its first page was asked for twice. */
type Read = AccountList & { readonly list: readonly BankAccount[]; readonly readAgain: boolean };
const ids = ({ list }: Read) => list.map(({ accountId }) => accountId);

type Change = { readonly rowCount?: number | null; readonly echoedSize?: number | null; readonly padding?: number };
const page = (result: readonly Row[], { rowCount, echoedSize, padding = 0 }: Change = {}): PageAnswer => [
  Buffer.from(JSON.stringify({ result, pageInfo: { rowCount, pageSize: echoedSize } }) + ' '.repeat(padding)),
];

interface ModelBank {
  readonly size: number;
  /** The largest page it gives, whatever is asked. */
  readonly clamp: number;
  readonly echoes: boolean;
  readonly counts: boolean;
  readonly pastEnd: 'empty' | 'past-end';
}

/** A bank that keeps its accounts still. */
function answerAs(bank: ModelBank): (request: PageRequest) => PageAnswer {
  const all = accounts(bank.size);
  return ({ pageNumber, pageSize }) => {
    const size = Math.min(pageSize, bank.clamp);
    const rows = all.slice((pageNumber - 1) * size, pageNumber * size);
    if (rows.length === 0 && pageNumber > 1 && bank.pastEnd === 'past-end') return 'past-end';
    return page(rows, { rowCount: bank.counts ? bank.size : null, echoedSize: bank.echoes ? size : null });
  };
}

/** A reader of a bank that answers so; every request is noted. */
function begin(
  answer: (request: PageRequest, nth: number) => PageAnswer | Promise<PageAnswer>,
  { pageSize = 10, maxConcurrentRequests = 3 } = {},
) {
  const requests: PageRequest[] = [];
  let underWay = 0;
  const most = { underWay: 0 };
  const reader = new AccountReader(
    {
      get: async (request) => {
        requests.push(request);
        underWay += 1;
        most.underWay = Math.max(most.underWay, underWay);
        try {
          await new Promise((resolve) => setImmediate(resolve));
          request.signal.throwIfAborted();
          return await answer(request, requests.length);
        } finally {
          underWay -= 1;
        }
      },
    },
    { note: () => undefined },
    { BANK_PAGE_SIZE: pageSize, BANK_MAX_CONCURRENT_REQUESTS: maxConcurrentRequests },
  );
  const read = async (signal = new AbortController().signal): Promise<Read> => {
    const asked = requests.length;
    let pages: [number, readonly BankAccount[]][] = [];
    let pageReader = new PageReader();
    const reading = reader.begin('reading-1', signal);
    for await (const { number, pieces } of reading.pages()) {
      if (number === 1) [pageReader, pages] = [new PageReader(), []];
      const onPage: BankAccount[] = [];
      pages.push([number, onPage]);
      reading.took(pageReader.read(number, Buffer.concat(pieces), (account) => onPage.push(account)));
    }
    // as the snapshot has them: the later page's version of an account wins
    const inOrder = pages.flatMap(([, onPage]) => onPage);
    const list = [...new Map(inOrder.map((each) => [each.accountId, each])).values()];
    const readAgain = requests.slice(asked).filter(({ pageNumber }) => pageNumber === 1).length > 1;
    return { ...reading.result, list, readAgain };
  };
  return { read, requests, most, numbers: () => requests.map(({ pageNumber }) => pageNumber) };
}

describe('a list that stands still', () => {
  const bank = fc.record<ModelBank>({
    size: fc.nat({ max: 130 }),
    clamp: fc.integer({ min: 1, max: 60 }),
    echoes: fc.boolean(),
    counts: fc.boolean(),
    pastEnd: fc.constantFrom('empty', 'past-end'),
  });

  it('is read exactly, in order, with no more requests than it takes to find its end', async () => {
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
          expect(list.readAgain).toBe(false);
          const pages = Math.max(1, Math.ceil(model.size / Math.min(pageSize, model.clamp)));
          expect(list.pages).toBe(pages);
          expect(requests.length).toBeGreaterThanOrEqual(pages);
          expect(requests.length).toBeLessThanOrEqual(model.counts ? pages : pages + 1);
          expect(most.underWay).toBeLessThanOrEqual(maxConcurrentRequests);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('with a count has its pages read side by side', async () => {
    const { read, most } = begin(answerAs({ size: 95, clamp: 50, echoes: true, counts: true, pastEnd: 'empty' }), {
      pageSize: 10,
      maxConcurrentRequests: 4,
    });
    await read();
    expect(most.underWay).toBe(4);
  });

  it('a page shorter than was asked for is not its end when the bank clamps', async () => {
    const { read } = begin(answerAs({ size: 95, clamp: 7, echoes: true, counts: false, pastEnd: 'empty' }));
    expect(ids(await read())).toHaveLength(95);
  });

  it('a page shorter than the bank echoes is its end', async () => {
    const { read, numbers } = begin(answerAs({ size: 15, clamp: 50, echoes: true, counts: false, pastEnd: 'empty' }));
    await read();
    expect(numbers()).toEqual([1, 2]);
  });

  it('that is empty is an empty list, after one request', async () => {
    const { read, numbers } = begin(() => page([], { rowCount: 0, echoedSize: 10 }));
    expect(await read()).toEqual({ accounts: 0, list: [], complete: true, pages: 1, readAgain: false });
    expect(numbers()).toEqual([1]);
  });

  it('that is empty without a count is not known to be complete', async () => {
    const { read } = begin(() => page([]));
    expect((await read()).complete).toBeNull();
  });

  it('every page is asked for with the id of the reading and the page size', async () => {
    const { read, requests } = begin(answerAs({ size: 25, clamp: 50, echoes: true, counts: true, pastEnd: 'empty' }));
    await read();
    expect(requests.map(({ refreshId, pageSize }) => `${refreshId} ${pageSize}`)).toEqual(
      Array(3).fill('reading-1 10'),
    );
  });
});

describe('a list that changes while it is read', () => {
  it('is read again when an account shows twice, and the second reading counts', async () => {
    let passes = 0;
    const { read, requests } = begin(({ pageNumber }) => {
      if (pageNumber === 1) passes += 1;
      const all = accounts(20);
      // in the first pass an account is put in front between the pages: the last of page 1 comes again on page 2
      const shifted = passes === 1 && pageNumber === 2 ? [account('new'), ...all] : all;
      return page(shifted.slice((pageNumber - 1) * 10, pageNumber * 10), { rowCount: 20 });
    });
    const list = await read();
    expect([list.complete, list.readAgain, ids(list).length]).toEqual([true, true, 20]);
    expect(requests.filter(({ pageNumber }) => pageNumber === 1)).toHaveLength(2);
  });

  it('is read again when its count changes between the pages', async () => {
    const { read } = begin(({ pageNumber }, nth) =>
      page(accounts(10, (pageNumber - 1) * 10), { rowCount: nth === 2 ? 21 : 20 }),
    );
    const list = await read();
    expect([list.complete, list.readAgain]).toEqual([true, true]);
  });

  it('is not complete when it still changes in the second reading, and is not read a third time', async () => {
    const { read, requests } = begin(({ pageNumber }, nth) =>
      pageNumber > 2
        ? page([], { rowCount: 20 })
        : page(pageNumber === 1 ? accounts(10) : accounts(10, 9), { rowCount: nth % 2 === 0 ? 20 : 19 }),
    );
    const list = await read();
    expect([list.complete, list.readAgain, ids(list).length]).toEqual([false, true, 19]);
    expect(requests.filter(({ pageNumber }) => pageNumber === 1)).toHaveLength(2);
  });

  it.each([
    ['more', 12, [1, 2, 1, 2]],
    ['fewer', 9, [1, 1]],
    ['none', 0, [1, 1]],
  ])('is not complete when the bank goes on counting %s than it gives', async (_name, rowCount, asked) => {
    const { read, numbers } = begin(({ pageNumber }) => page(pageNumber === 1 ? accounts(10) : [], { rowCount }));
    const list = await read();
    expect([list.complete, list.readAgain, ids(list).length]).toEqual([false, true, 10]);
    expect(numbers()).toEqual(asked);
  });

  it('that never ends is cut off by what it weighs, before it fills the memory', async () => {
    const body = Buffer.alloc(30_000_000);
    let asked = 0;
    const reader = new AccountReader(
      {
        get: () => {
          asked += 1;
          return Promise.resolve([body]);
        },
      },
      { note: () => undefined },
      { BANK_PAGE_SIZE: 10, BANK_MAX_CONCURRENT_REQUESTS: 3 },
    );
    const facts = { accounts: 10, added: 10, rowCount: null, echoedSize: null, repeatsLast: false, drift: [] };
    const read = async () => {
      const reading = reader.begin('reading-1', new AbortController().signal);
      for await (const { number } of reading.pages()) {
        expect(number).toBeLessThanOrEqual(20);
        reading.took(facts);
      }
    };
    const { code, detail } = await refusalOf(read);
    expect([code, detail]).toEqual(['bank-response-invalid', 'The account list is longer than 600000000 bytes.']);
    expect(asked).toBe(21);
  });

  it('is not complete without a count when an account shows twice, twice', async () => {
    const { read } = begin(({ pageNumber }) =>
      page(pageNumber === 1 ? accounts(10) : pageNumber === 2 ? accounts(10, 9) : []),
    );
    const list = await read();
    expect([list.complete, list.readAgain, ids(list).length]).toEqual([false, true, 19]);
  });

  it('an account twice on one page counts as a change', async () => {
    const { read } = begin(() => page([account(1), account(1)], { rowCount: 2 }));
    expect(await read()).toMatchObject({ complete: false, readAgain: true, accounts: 1 });
  });

  it("the later page's version of an account wins, whichever page comes first", async () => {
    const answers: Record<number, PageAnswer> = {
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

  it('accounts that are added behind the count are found when the count grows', async () => {
    let passes = 0;
    const { read } = begin(({ pageNumber }) => {
      if (pageNumber === 1) passes += 1;
      const size = passes === 1 && pageNumber === 1 ? 20 : 23;
      return page(accounts(23).slice((pageNumber - 1) * 10, pageNumber * 10), { rowCount: size });
    });
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([23, true]);
  });
});

describe('a list that never ends', () => {
  it('because the same page comes again and again ends at once, and is not known to be whole', async () => {
    const { read, numbers } = begin(() => page(accounts(10)));
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([10, false]);
    expect(numbers()).toEqual([1, 2, 1, 2]);
  });

  it('because the bank knows no pages is whole when all of it is shorter than a page', async () => {
    const { read, numbers } = begin(() => page(accounts(4)));
    const list = await read();
    expect([ids(list).length, list.complete, list.readAgain]).toEqual([4, null, false]);
    expect(numbers()).toEqual([1, 2]);
  });

  it('because the same page comes again and again under a great count ends soon', async () => {
    const { read, requests } = begin(() => page(accounts(10), { rowCount: 999_999_999 }), { maxConcurrentRequests: 6 });
    expect((await read()).complete).toBe(false);
    expect(requests.length).toBeLessThanOrEqual(2 * (1 + 2 * 6));
  });

  it('because two pages take turns ends', async () => {
    const { read, numbers } = begin(({ pageNumber }) => page(accounts(10, (pageNumber % 2) * 10)));
    expect(ids(await read())).toHaveLength(20);
    expect(numbers()).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('because there are always new accounts is refused', async () => {
    const { read, requests } = begin(({ pageNumber }) => page(accounts(5000, pageNumber * 5000)), { pageSize: 5000 });
    const error = await refusalOf(read);
    expect([error.code, error.detail]).toEqual([
      'bank-response-invalid',
      'In the account list, result has more than 200000 accounts over all pages.',
    ]);
    expect(requests).toHaveLength(41);
  });
});

describe('a page size that the bank refuses', () => {
  const upTo = (most: number, size: number) => {
    const answer = answerAs({ size, clamp: 5000, echoes: true, counts: true, pastEnd: 'empty' });
    return (request: PageRequest): PageAnswer => (request.pageSize > most ? 'too-large' : answer(request));
  };

  it('is made smaller until it fits, and the list is whole', async () => {
    const { read, requests } = begin(upTo(100, 230), { pageSize: 1000 });
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([230, true]);
    expect([...new Set(requests.map(({ pageSize }) => pageSize))]).toEqual([1000, 500, 250, 125, 62]);
  });

  it('is remembered for the next reading', async () => {
    const { read, requests } = begin(upTo(100, 10), { pageSize: 1000 });
    await read();
    requests.length = 0;
    await read();
    expect(requests.map(({ pageSize }) => pageSize)).toEqual([62]);
  });

  it('passes the default of the bank on its way down', async () => {
    const { read, requests } = begin(upTo(50, 10), { pageSize: 90 });
    await read();
    expect(requests.map(({ pageSize }) => pageSize)).toEqual([90, 50]);
  });

  it('may be refused on a later page: the pass begins again', async () => {
    const answer = answerAs({ size: 95, clamp: 5000, echoes: true, counts: true, pastEnd: 'empty' });
    const { read } = begin(
      (request) => (request.pageSize > 30 && request.pageNumber === 2 ? 'too-large' : answer(request)),
      { pageSize: 60 },
    );
    const list = await read();
    expect([ids(list).length, list.complete]).toEqual([95, true]);
  });

  it('down to 1 makes the reading fail', async () => {
    const { read, requests } = begin(() => 'too-large', { pageSize: 5000 });
    const error = await refusalOf(read);
    expect([error.code, error.detail]).toEqual([
      'bank-refused',
      'The bank rejects every page size of the account list.',
    ]);
    expect(requests.length).toBeLessThan(20);
  });
});

describe('a reading that fails', () => {
  it('on any one page fails as a whole', async () => {
    const answer = answerAs({ size: 95, clamp: 10, echoes: true, counts: true, pastEnd: 'empty' });
    for (const bad of [1, 2, 5, 10]) {
      const { read } = begin((request) => {
        if (request.pageNumber === bad) throw new GatewayError('bank-unreachable', `page ${bad}`);
        return answer(request);
      });
      expect((await refusalOf(read)).detail).toBe(`page ${bad}`);
    }
  });

  it('ends its other requests and begins no more', async () => {
    const answer = answerAs({ size: 1000, clamp: 10, echoes: true, counts: true, pastEnd: 'empty' });
    const { read, requests } = begin((request) => {
      if (request.pageNumber === 4) throw new GatewayError('bank-unreachable', 'page 4');
      return answer(request);
    });
    await refusalOf(read);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(requests.length).toBeLessThan(12);
    expect(requests.every(({ signal }) => signal.aborted)).toBe(true);
  });

  it('with the reason of its signal when it is ended from outside', async () => {
    const end = new AbortController();
    const { read } = begin(({ pageNumber }) => {
      if (pageNumber === 3) end.abort(new GatewayError('stopping', 'bye'));
      return page(accounts(10, pageNumber * 10));
    });
    expect((await refusalOf(() => read(end.signal))).code).toBe('stopping');
  });
});

describe('a reading after one that had a count', () => {
  const counted = (size: number): ModelBank => ({ size, clamp: 10, echoes: true, counts: true, pastEnd: 'past-end' });

  it('asks for as many pages at once as there were, before the first has come', async () => {
    const firstPage = Promise.withResolvers<void>();
    let refreshes = 0;
    const { read, numbers, most } = begin(async (request) => {
      if (request.pageNumber === 1 && ++refreshes === 2) await firstPage.promise;
      return answerAs(counted(25))(request);
    });
    await read();
    const reading = read();
    while (numbers().length < 6) await new Promise((resolve) => setImmediate(resolve));
    expect(numbers().slice(3)).toEqual([1, 2, 3]);
    firstPage.resolve();
    const list = await reading;
    expect([ids(list).length, list.complete, numbers().length, most.underWay]).toEqual([25, true, 6, 3]);
  });

  it('is right when the list has become shorter or longer meanwhile', async () => {
    let size = 25;
    const { read } = begin((request) => answerAs(counted(size))(request));
    for (size of [25, 4, 0, 41, 10, 11]) {
      const list = await read();
      expect([ids(list).length, list.complete]).toEqual([size, true]);
    }
  });

  it('asks for one page at a time where only one call may be in flight', async () => {
    const { read, most } = begin(answerAs(counted(25)), { maxConcurrentRequests: 1 });
    await read();
    await read();
    expect(most.underWay).toBe(1);
  });
});
