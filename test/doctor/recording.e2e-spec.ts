import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/list/account.js';
import { compareForms } from '../../src/recording/compare-forms.js';
import { Recorder, type MaskedRecording } from '../../src/recording/recorder.js';
import { readRecording, type Exchange } from '../../src/recording/read-recording.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { toEnvironment, type BankAddress } from '../support/bank-address.js';
import { bankForFile } from '../support/bank-for-file.js';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { startConnectProxy, withCredentials } from '../support/connect-proxy.js';
import { examineWith } from '../support/examination.js';
import { startGateway } from '../support/gateway.js';
import { json, type Handler, type PretendBank } from '../support/pretend-bank.js';
import { startProgram } from '../support/program.js';
import { sampleAccount, sampleAccounts } from '../support/sample-accounts.js';
import { recordedPage } from '../support/recorded-page.js';
import { control, directoryWithIdentity, toSandboxSettings } from '../support/sandbox.js';

const bank = await bankForFile();

async function record(at: BankAddress, env: Record<string, string> = {}): Promise<MaskedRecording> {
  const recorder = new Recorder();
  await examineWith({ ...toEnvironment(at), ...env }, { recorder });
  const result = recorder.mask(new Date());
  if (!result) throw new Error('nothing was recorded');
  return result;
}

async function serve(change: Parameters<typeof toSandboxSettings>[0], replayFile?: string): Promise<Sandbox> {
  const sandbox = await startSandbox(toSandboxSettings(change), { replayFile });
  onClose(() => sandbox.close());
  return sandbox;
}

/** The first line of a recording. */
const FACTS = '{"recording":1,"at":"","version":"","httpVersion":"1.1","tls":{}}\n';

const toFile = (text: string) => {
  const file = join(temporaryDirectory(), 'recording.ndjson');
  writeFileSync(file, text);
  return file;
};

/** Planted data, which must not be found anywhere: not even a part of it, in another case, or escaped. */
const SECRETS = ['Plantednames', 'LU060408592157516019', '7654321', '8642975', 'plantedhost', 'PLANTEDBIC', '73519246'];
const found = (text: string) => {
  const plain = text.toLowerCase().replaceAll(/[\s_-]/g, '');
  return SECRETS.filter((secret) => plain.includes(secret.toLowerCase()));
};

describe('a recording', () => {
  const everywhere = (): Record<string, unknown> => {
    const text = 'Plantednames & Söhne, IBAN LU06 0408 5921 5751 6019, 73519246';
    const account = sampleAccount(1);
    const fields = Object.keys(account).map((key) => {
      const value = account[key];
      if (Array.isArray(value)) return [key, value];
      return [key, key === 'openingDate' ? '1973-05-19T24:06:00' : text];
    });
    return {
      ...(Object.fromEntries(fields) as Record<string, unknown>),
      accountIdentifiers: [
        { account: 'lu060408592157516019', financialInstitution: 'PLANTEDBIC', country: 'Plantednames' },
      ],
      ibans: ['LU06 0408 5921 5751 6019', text],
      balances: [
        {
          type: text,
          currency: 'Plantednames',
          beginOfDayAmount: 7654321.98,
          intraDayAmount: -8642975,
          financialDate: text,
        },
      ],
      'Plantednames & Söhne': { 'plantednames sa': [text, 7654321], LU060408592157516019: null, n73519246: true },
      nested: { deeper: [[text], { note: text }] },
    };
  };
  const headers = {
    server: 'plantedhost-17.corp',
    'x-trace': 'Plantednames',
    'x-lu060408592157516019': 'a',
    'set-cookie': 'id=73519246',
    'retry-after': 'Plantednames',
    'cache-control': 'max-age=1, plantednames',
    etag: '"LU060408592157516019"',
    location: 'https://plantedhost.example/',
  };
  const ok: Handler = (_request, response) =>
    json(response, 200, { result: [everywhere()], pageInfo: { rowCount: 1, pageSize: 1000 } }, headers);
  const fail =
    (status: number, contentType: string, body: string): Handler =>
    (_request, response) => {
      response.writeHead(status, { ...headers, 'content-type': contentType });
      response.end(body);
    };
  const secretsOfBank = () => [bank.username, bank.password, ...bank.tokens, bank.url.replace('https://', '')];

  it.each<[string, { onAccounts?: Handler; onToken?: Handler }]>([
    ['a list with secrets in every field, key and header', { onAccounts: ok }],
    ['an error page', { onAccounts: fail(500, 'text/html; name=Plantednames', '<p>Plantednames 73519246</p>') }],
    [
      'a problem document',
      { onAccounts: fail(404, 'application/vnd.plantedhost+json', '{"detail":"Plantednames LU060408592157516019"}') },
    ],
    [
      'a document that is cut off',
      { onAccounts: fail(200, 'application/json', '{"result":[{"friendlyName":"Plantednames') },
    ],
    [
      'an error of the token endpoint',
      { onToken: fail(401, 'application/json', '{"error":"Plantednames","Plantednames SA":73519246}') },
    ],
  ])('contains nothing of %s', async (_name, handlers) => {
    Object.assign(bank, handlers);
    const { text, exchanges, maskedValues } = await record(bank);
    expect(exchanges.length).toBeGreaterThan(0);
    expect(maskedValues).toBeGreaterThan(0);
    expect(found(text)).toEqual([]);
    for (const secret of secretsOfBank()) expect(text.includes(secret)).toBe(false);
  });

  it('contains nothing of a second host and of a proxy', async () => {
    const sandbox = await serve({ SANDBOX_AUTH_PORT: 0, SANDBOX_NAMES: ['127.0.0.1', 'plantedhost.example'] });
    const { url } = await startConnectProxy();
    const proxy = withCredentials(url, 'plantednames', '73519246');
    const { text } = await record(sandbox, { EGRESS_PROXY_URL: proxy.href });
    expect(found(text)).toEqual([]);
    for (const part of [sandbox.url, sandbox.authUrl, url.host])
      expect(text).not.toContain(part.replace('https://', ''));
    expect(text).not.toMatch(/Nordlys|Müller|O'Brien|Payroll/);
    expect(readFileSync(sandbox.files.username, 'utf8').length).toBeGreaterThan(0);
    expect(text).not.toContain(readFileSync(sandbox.files.username, 'utf8'));
  });
});

describe('a recording that the sandbox serves', () => {
  const moods: [string, Record<string, unknown>, object, Record<string, string>][] = [
    ['on two hosts, in small pages', { SANDBOX_AUTH_PORT: 0, SANDBOX_ACCOUNTS: 230 }, {}, { BANK_PAGE_SIZE: '50' }],
    ['without a grant', {}, { grantAccess: false }, {}],
    ['that rejects the address', {}, { allowedIps: [] }, {}],
  ];
  it.each(moods)('does not differ in form from a bank %s', async (_name, settings, switches, env) => {
    const original = await serve(settings);
    await control(original, 'PATCH', switches);
    const recording = await record(original, env);
    const again = await record(await serve({}, toFile(recording.text)), env);
    expect(compareForms(recording.exchanges, again.exchanges)).toEqual([]);
  });

  it('also serves other page sizes, an emptied list and a failure on another page', async () => {
    const recording = await record(await serve({}));
    const replay = await serve({}, toFile(recording.text));
    const { exchanges } = await record(replay, { BANK_PAGE_SIZE: '7' });
    expect(exchanges.filter(({ kind }) => kind === 'page')).toHaveLength(18);
    expect(compareForms(recording.exchanges, exchanges)).toEqual([]);
    await control(replay, 'PATCH', { accounts: 0 });
    const { step } = await examineWith(toEnvironment(replay));
    expect(step('accounts')).toMatchObject({ code: 'accounts-emptied' });
  });

  /** A bank of 25 accounts in pages of ten, whose envelope is `wrap`. */
  const pagesOfTen =
    (wrap: (rows: readonly object[], number: number) => unknown): Handler =>
    (_request, response, url) => {
      const [number, size] = ['PageNumber', 'PageSize'].map((name) => Number(url.searchParams.get(name)));
      const length = Math.min(size ?? 0, 10);
      const from = ((number ?? 1) - 1) * length;
      json(response, 200, wrap(sampleAccounts(25).slice(from, from + length), number ?? 1));
    };
  it.each<[string, Partial<Pick<PretendBank, 'onAccounts' | 'onToken'>>]>([
    ['whose list has another name', { onAccounts: pagesOfTen((data) => ({ data, pageInfo: { rowCount: 25 } })) }],
    ['without an envelope', { onAccounts: pagesOfTen((rows) => rows) }],
    [
      'whose counts are texts',
      {
        onAccounts: pagesOfTen((result, number) => ({
          result,
          pageInfo: { currentPage: `${number}`, pageSize: '10', rowCount: '25' },
        })),
      },
    ],
    [
      'whose token response has a byte order mark',
      { onToken: (_request, response) => json(response, 200, '\ufeff{"access_token":"abc","expires_in":300}') },
    ],
  ])('leads to the same responses of the gateway as a bank %s, at any page size', async (_name, handlers) => {
    Object.assign(bank, handlers);
    const read = async (at: BankAddress, env: Record<string, string> = {}) => {
      const gateway = await startGateway(at, env);
      const { json: list } = await gateway.get('/api/v1/accounts?pageSize=1000');
      const { json: totals } = await gateway.get('/api/v1/balances');
      const words = (list.accounts as Account[]).map(({ status, currency, protection }) => [
        status,
        currency,
        protection,
      ]);
      return {
        words: words.toSorted(),
        complete: list.snapshot.complete as unknown,
        totals: (totals.totals as { currency: string; accounts: number }[]).map(({ currency, accounts }) => [
          currency,
          accounts,
        ]),
      };
    };
    const original = await read(bank);
    expect(original.words.length).toBeGreaterThan(0);
    const { text, exchanges } = await record(bank);
    const replay = await serve({}, toFile(text));
    expect(await read(replay)).toEqual(original);
    expect(await read(replay, { BANK_PAGE_SIZE: '7' })).toEqual(original);
    expect(compareForms(exchanges, (await record(replay)).exchanges)).toEqual([]);
  });

  it('contains nothing of a body that is not UTF-8', async () => {
    bank.onAccounts = (_request, response) =>
      response.end(Buffer.from('{"result":[{"accountId":"1","friendlyName":"Plantednam\xe9s"}]}', 'latin1'));
    expect(found((await record(bank)).text.replaceAll('\ufffd', 'e'))).toEqual([]);
  });

  it('has the broken connections of a bank that breaks off only for the odd pages', async () => {
    const good = bank.onAccounts;
    bank.onAccounts = (request, response, url) =>
      url.search === '?PageNumber=1&PageSize=1000' ? good(request, response, url) : void response.destroy();
    const recorder = new Recorder();
    const { report } = await examineWith(toEnvironment(bank), { recorder });
    expect(report.ok).toBe(true);
    const failed = recorder.mask(new Date())?.exchanges.filter(({ failure }) => failure === 'bank-unreachable');
    expect(new Set(failed?.map(({ kind }) => kind))).toEqual(new Set(['past-the-end', 'one-row']));
  });

  describe('differs in one place after a change of', () => {
    const change =
      (edit: (body: string) => string, more: Partial<Exchange> = {}) =>
      (exchange: Exchange) =>
        exchange.kind === 'page' ? { ...exchange, ...more, body: edit(exchange.body) } : exchange;
    it.each<[string, (exchange: Exchange) => Exchange, string]>([
      [
        'a key that came',
        change((body) => body.replaceAll('"status":', '"newField":1,"status":')),
        'result[].newField came',
      ],
      [
        'a key that went',
        change((body) => body.replaceAll(/"protectionType":"\w+",/g, '')),
        'result[].protectionType went',
      ],
      [
        'a number as a text',
        change((body) => body.replaceAll(/"rowCount":(\d+)/g, '"rowCount":"$1"')),
        'pageInfo.rowCount was number; now text of number',
      ],
      ['a status', change((body) => body, { status: 503 }), 'the status was 200; now 503'],
      [
        'a date',
        change((body) => body.replaceAll(/("financialDate":"[^"]*)T00:00:00\+00:00"/g, '$1"')),
        'result[].balances[].financialDate was',
      ],
      [
        'a header',
        (exchange) =>
          exchange.kind === 'page' ? { ...exchange, headers: { ...exchange.headers, 'x-new': null } } : exchange,
        'header x-new came',
      ],
    ])('%s', async (_name, edit, expected) => {
      const before = await recorded();
      const differences = compareForms(before, before.map(edit));
      expect(differences).toEqual([expect.stringContaining(`the account list: ${expected}`)]);
    });

    it.each<[string, string, string[]]>([
      ['7', '-19435.5', []],
      ['0.01', '1.234', []],
      ['1.5', '15e-1', ['number; now number with an exponent']],
    ])('an amount from %s to %s, or in none: %j', (was, is, expected) => {
      const [before, now] = [was, is].map((amount) => [
        { ...oneRow, body: `{"result":[{"balances":[{"intraDayAmount":${amount}}]}]}` },
      ]) as [Exchange[], Exchange[]];
      expect(compareForms(before, now)).toEqual(
        expected.map((change) => `a page of one row: result[].balances[].intraDayAmount was ${change}`),
      );
    });

    const oneRow = recordedPage('', { kind: 'one-row' });

    let kept: Promise<MaskedRecording> | undefined;
    const recorded = async () => (await (kept ??= serve({}).then((sandbox) => record(sandbox)))).exchanges;
  });
});

describe('node dist/main.js doctor --record and --compare', () => {
  const run = async (args: string[]) => {
    const env = { SANDBOX_DIRECTORY: directory };
    const { exit, stdout, stderr } = await startProgram({
      args: ['doctor', '--sandbox', ...args],
      env,
      cwd: directory,
    });
    return { code: await exit, stdout: stdout(), stderr: stderr() };
  };
  const directory = directoryWithIdentity();

  it('writes a file that only its owner can read, prints no value, and exits with 0 or 9', async () => {
    const recorded = await run(['--record', 'bank.ndjson']);
    expect([recorded.code, recorded.stderr]).toEqual([0, '']);
    expect(recorded.stdout).toMatch(/Recorded 4 calls in bank\.ndjson \(mode 600\)\. \d+ values were masked\./);
    expect(recorded.stdout).not.toContain('Nordlys');
    const file = join(directory, 'bank.ndjson');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(['--compare', 'bank.ndjson'])).code).toBe(0);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\\"currency\\"', '\\"Currency\\"'));
    const { code, stdout } = await run(['--compare', 'bank.ndjson', '--json']);
    expect([code, (JSON.parse(stdout) as { differences: string[] }).differences.length > 0]).toEqual([9, true]);
  });

  it('prints nothing of a recording that a terminal would obey', async () => {
    const headers = { '\u001b[2J': null, 'content-type': '\u001b]0;title\u0007' };
    const exchange = { kind: 'page', path: '/', query: {}, status: 200, failure: null, headers, ms: 1, body: '{}' };
    writeFileSync(join(directory, 'odd.ndjson'), `${FACTS}${JSON.stringify(exchange)}\n`);
    const { code, stdout } = await run(['--compare', 'odd.ndjson']);
    expect([code, stdout]).toEqual([9, expect.stringContaining('header ?[2J went')]);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('says in words that the recording could not be written, and keeps the earlier one', async () => {
    // the new file is written beside the old one, under a name that is too long
    const name = 'k'.repeat(250);
    writeFileSync(join(directory, name), 'earlier');
    const { code, stderr } = await run(['--record', name]);
    expect([code, stderr]).toEqual([
      2,
      `accounts-gateway doctor: ${name} cannot be written: name too long (ENAMETOOLONG).\n`,
    ]);
    expect(readFileSync(join(directory, name), 'utf8')).toBe('earlier');
  });

  it('does not start if its file is a FIFO', async () => {
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    expect(await run(['--record', 'fifo'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'accounts-gateway doctor: fifo cannot be written: no regular file.\n',
    });
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['missing', () => undefined, /does not exist/],
    ['no JSON', (file) => writeFileSync(file, 'secret\n'), /line 1 is not JSON/],
    ['another JSON', (file) => writeFileSync(file, '{"secret":1}\n'), /line 1, recording: unexpected form/],
    [
      'with a key that is not a header',
      (file) =>
        writeFileSync(
          file,
          `${FACTS}{"kind":"page","path":"/","query":{},"status":200,"failure":null,"headers":{"secret":5},"ms":1,"body":""}\n`,
        ),
      /line 2, headers: unexpected form/,
    ],
    ['endless', (file) => writeFileSync(file, '{}\n'.repeat(3000)), /more than 2100 lines/],
    ['empty', (file) => writeFileSync(file, ''), /it is empty/],
    ['a directory', (file) => mkdirSync(file), /a directory/],
    [
      'a link to a file of /proc without an end',
      (file) => symlinkSync('/proc/self/pagemap', file),
      /larger than|does not exist/,
    ],
    ['a FIFO', (file) => execFileSync('mkfifo', [file]), /not a regular file/],
  ])('reports a recording that is %s, without quoting it', async (_name, create, why) => {
    const file = join(temporaryDirectory(), 'bank.ndjson');
    create(file);
    expect(() => readRecording(file)).toThrow(why);
    expect(() => readRecording(file)).not.toThrow(/secret/);
    await expect(serve({}, file)).rejects.toMatchObject({
      name: 'SandboxNotStarted',
      message: expect.stringMatching(why),
    });
  });
});
