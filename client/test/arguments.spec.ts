import { describe, expect, it } from '@jest/globals';
import { createClient, GatewayProblem, isProblem, type Client, type ClientOptions } from '../src/index.js';

const URL_ = 'https://accounts.example.com';

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

describe('an invalid argument is a TypeError that names it:', () => {
  it.each<[string, unknown]>([
    ['baseUrl', undefined],
    ['baseUrl', {}],
    ['baseUrl', { baseUrl: 1 }],
    ['baseUrl', { baseUrl: 'accounts.example.com' }],
    ['baseUrl', { baseUrl: '/gateway' }],
    ['baseUrl', { baseUrl: `${URL_}/api/v1` }],
    ['baseUrl', { baseUrl: `${URL_}/bank/api/v1/` }],
    ['baseUrl', { baseUrl: `${URL_}?a=1` }],
    ['baseUrl', { baseUrl: 'https://user:secret@accounts.example.com' }],
    ['clientName', { baseUrl: URL_, clientName: '' }],
    ['clientName', { baseUrl: URL_, clientName: 'two words' }],
    ['clientName', { baseUrl: URL_, clientName: 'a\nb' }],
    ['clientName', { baseUrl: URL_, clientName: 'app-20261' }],
    ['clientName', { baseUrl: URL_, clientName: 'x'.repeat(41) }],
    ['clientName', { baseUrl: URL_, clientName: 'other' }],
    ['clientName', { baseUrl: URL_, clientName: null }],
    ['deadlineMs', { baseUrl: URL_, deadlineMs: Infinity }],
    ['deadlineMs', { baseUrl: URL_, deadlineMs: -1 }],
    ['deadlineMs', { baseUrl: URL_, deadlineMs: 0.5 }],
    ['deadlineMs', { baseUrl: URL_, deadlineMs: 2 ** 31 }],
    ['fetch', { baseUrl: URL_, fetch: true }],
    ['onRetry', { baseUrl: URL_, onRetry: 'log' }],
  ])('%s of createClient(%j)', (name, options) => {
    const create = () => createClient(options as ClientOptions);
    expect(create).toThrow(expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }));
    expect(create).not.toThrow('secret');
  });

  it.each<[string, string, (client: Client) => unknown]>([
    ['id', "getAccount('')", (client) => client.getAccount('')],
    ['id', "getAccount('..')", (client) => client.getAccount('..')],
    ['query', "listAccounts('EUR')", (client) => client.listAccounts('EUR' as never)],
    ['query', 'listAccounts(URLSearchParams)', (client) => client.listAccounts(new URLSearchParams('q=a') as never)],
    ['query.status', 'listAccounts({ status: [] })', (client) => client.listAccounts({ status: [] } as never)],
    ['deadlineMs', 'listAccounts({}, { deadlineMs: NaN })', (client) => client.listAccounts({}, { deadlineMs: NaN })],
    ['onRetry', 'getBalances({}, { onRetry: 1 })', (client) => client.getBalances({}, { onRetry: 1 } as never)],
    ['handlers.onData', 'watch({})', async (client) => client.watch({}, undefined as never)],
    ['handlers.onData', 'watch({}, {})', async (client) => client.watch({}, {} as never)],
    [
      'handlers.onExpired',
      'watch({}, { onExpired: true })',
      async (client) => client.watch({}, { onData: () => undefined, onExpired: true as never }),
    ],
    ['query', 'watch([], …)', async (client) => client.watch([] as never, { onData: () => undefined })],
    ['query', 'observe(null)', async (client) => client.observe(null as never)],
    ['query', 'allAccounts("EUR")', (client) => firstOf(client.allAccounts('EUR' as never))],
    ['query', 'exportUrl([])', async (client) => client.exportUrl([] as never)],
    ['listener', 'observe().subscribe(1)', async (client) => client.observe().subscribe(1 as never)],
  ])('%s of %s', async (name, _call, call) => {
    const client = createClient({ baseUrl: URL_, fetch: () => Promise.reject(new Error('asked')) });
    await expect(call(client)).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }),
    );
  });

  it.each([
    { baseUrl: `${URL_}/api`, clientName: 'treasury_2.0-app' },
    { baseUrl: `${URL_}/api/v1/bank/`, clientName: undefined, fetch: undefined, onRetry: undefined },
    { baseUrl: '', clientName: 'x'.repeat(40), deadlineMs: 0 },
  ])('the negative case: %j', (options) => {
    expect(createClient(options)).toBeDefined();
  });
});

describe('a problem', () => {
  const problem = new GatewayProblem({ code: 'bank-error', owner: 'bank', message: 'x', cause: new Error('y') });

  it('as JSON contains its message, and neither stack nor cause', () => {
    const { cause, stack, ...rest } = JSON.parse(JSON.stringify(problem));
    expect([cause, stack]).toEqual([undefined, undefined]);
    expect(rest).toMatchObject({ name: 'GatewayProblem', message: 'x', code: 'bank-error', status: 0, errors: [] });
  });

  it('is recognized by isProblem, with this code if one is given', () => {
    expect([isProblem(problem), isProblem(problem, 'bank-error'), isProblem(problem, 'bank-timeout')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([new Error('x'), { name: 'GatewayProblem', code: 'bank-error' }, null, undefined])(
    'the negative case: %p',
    (error) => expect(isProblem(error)).toBe(false),
  );

  it('narrows the type', () => {
    const error: unknown = problem;
    if (!isProblem(error, 'bank-error')) throw error;
    const code: 'bank-error' = error.code;
    expect(code).toBe('bank-error');
  });
});
