import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Agent, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { bankForFile, holdAccounts } from '../support/bank-for-file.js';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { connectionsOf } from '../support/common-conditions.js';
import { call, get, startGateway } from '../support/gateway.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
async function dial(port: number, text = ''): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  if (text) socket.write(text);
}

describe('a stop', () => {
  it.each([
    ['that have never sent anything, as browsers open them ahead of need', ['', '', '']],
    ['with half a request', ['GET / HTTP/1.1\r\nHost: loc']],
  ])('connections %s do not delay it beyond SHUTDOWN_GRACE_MS', async (_name, texts) => {
    const gateway = await startGateway(bank, { SHUTDOWN_GRACE_MS: '700' });
    for (const text of texts) await dial(gateway.port, text);
    await until(async () => (await connectionsOf(gateway)) === texts.length);
    // a closing server has no timeouts: an open connection would delay it forever
    await gateway.close();
  });

  it('is not delayed by an unfinished TLS handshake', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, {
      TLS_CERT_FILE: join(sandbox.directory, 'server.pem'),
      TLS_KEY_FILE: join(sandbox.directory, 'server-key.pem'),
    });
    const codes: unknown[] = [];
    (gateway.app.getHttpServer() as Server).on('tlsClientError', ({ code }: NodeJS.ErrnoException) => codes.push(code));
    for (const text of ['', '\x16\x03\x01\x02\x00\x01']) await dial(gateway.port, text);
    await until(async () => (await connectionsOf(gateway)) === 2);
    await gateway.close();
    expect(codes).not.toContain('ERR_TLS_HANDSHAKE_TIMEOUT');
  });

  it('serves for SHUTDOWN_DELAY_MS while not ready, which /health explains', async () => {
    const gateway = await startGateway(bank, { SHUTDOWN_DELAY_MS: '5000' });
    await gateway.get('/api/v1/accounts');
    const closed = gateway.close();
    expect((await gateway.get('/health/ready')).status).toBe(503);
    const { details } = (await gateway.get('/health')).json;
    expect(Object.entries(details)[0]).toMatchObject([
      'instance',
      { status: 'down', code: 'stopping', owner: 'operator' },
    ]);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await closed;
  });

  it('resets no kept connection: from the signal on, each answer ends its connection', async () => {
    const gateway = await startGateway(bank, { SHUTDOWN_DELAY_MS: '2000' });
    await gateway.get('/api/v1/accounts');
    const agent = new Agent({ keepAlive: true });
    let answers = 0;
    /** Calls until an answer ends the connection, as a caller does who then goes to another instance. */
    const callUntilClosed = async (): Promise<number> => {
      const { status, headers } = await call(`${gateway.url}/api/v1/accounts`, { agent });
      answers += 1;
      expect(status).toBe(200);
      return headers.connection === 'close' ? 1 : callUntilClosed();
    };
    const callers = Promise.all(Array.from({ length: 20 }, callUntilClosed));
    await until(() => answers > 200);
    const closed = gateway.close();
    expect(await callers).toHaveLength(20);
    expect(Object.keys(agent.freeSockets)).toEqual([]);
    await closed;
  });

  it.each(['0', '300'])('resets no call over a kept connection, SHUTDOWN_DELAY_MS %s', async (SHUTDOWN_DELAY_MS) => {
    const gateway = await startGateway(bank, { SHUTDOWN_DELAY_MS });
    await gateway.get('/api/v1/accounts');
    const agent = new Agent({ keepAlive: true });
    onClose(() => agent.destroy());
    let answered = 0;
    const resetCalls: unknown[] = [];
    const callUntilItFails = async (): Promise<void> => {
      const { isKept, failure } = await callOnce(`${gateway.url}/api/v1/accounts`, agent);
      if (failure === null) answered += 1;
      // a call over a new connection may be reset together with the listener
      else if (isKept) resetCalls.push(failure);
      if (failure === null) await callUntilItFails();
    };
    const callers = Array.from({ length: 16 }, callUntilItFails);
    await until(() => answered >= 350);
    await Promise.all([gateway.close(), ...callers]);
    expect(resetCalls).toEqual([]);
  });

  it('cuts off requests in flight after SHUTDOWN_GRACE_MS', async () => {
    const gateway = await startGateway(bank, { SHUTDOWN_GRACE_MS: '200' });
    bank.onAccounts = () => undefined;
    const outcome = gateway.get('/api/v1/accounts').then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    await until(() => bank.requests.length === 2);
    await gateway.close();
    expect([503, 'ECONNRESET']).toContain(await outcome);
  });
});

describe('a start', () => {
  it.each([0, 150, 500])('that is stopped after %i ms ends without an error', async (ms) => {
    const program = await startProgram({ env: programEnvironment(bank), cwd: temporaryDirectory() });
    await delay(ms);
    program.child.kill('SIGTERM');
    // null: Node itself was still starting
    expect([0, null]).toContain(await program.exit);
    expect(program.stderr()).toBe('');
  });

  it('is not ended by SIGHUP', async () => {
    const program = await startProgram({ env: programEnvironment(bank), cwd: temporaryDirectory() });
    await until(() => program.events('certificate.loaded').length > 0);
    program.child.kill('SIGHUP');
    await program.started();
  });

  it('is not ended by SIGHUP in its first moment', async () => {
    const preload = `process.once('newListener', () => queueMicrotask(() => process.kill(process.pid, 'SIGHUP')))`;
    const nodeFlags = [`--import=data:text/javascript,${encodeURIComponent(preload)}`];
    const program = await startProgram({ env: programEnvironment(bank), cwd: temporaryDirectory(), nodeFlags });
    await program.started();
  });

  it('on a taken port ends with exit code 1 and one line with the remedy', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const program = await startProgram({
      env: programEnvironment(bank, { PORT: String(port) }),
      cwd: temporaryDirectory(),
    });
    expect(await program.exit).toBe(1);
    expect(program.stderr().trim().split('\n')).toHaveLength(1);
    expect(program.stderr()).toMatch(new RegExp(`Port ${port} on 127.0.0.1 is taken .*PORT=`));
    expect(program.events('gateway.not-started')).toHaveLength(1);
    holder.close();
  });

  it.each<[string, () => OutputOptions, RegExp]>([
    ['a full disk under its log', () => [openSync('/dev/full', 'w'), 'pipe'], /^.*cannot be written \(ENOSPC\).*\n$/],
    ['a reader of both outputs that ends', () => ['pipe', 'pipe'], /^$/],
    ['a full disk under both outputs', () => [openSync('/dev/full', 'w'), openSync('/dev/full', 'w')], /^$/],
  ])('%s: it goes on serving, and says so in one line where it can', async (name, outputs, said) => {
    const { child, url } = await startWithOutput(outputs());
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    if (name.startsWith('a reader')) for (const output of [child.stdout, child.stderr]) output?.destroy();
    for (let call = 0; call < 50; call++) {
      expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
      await delay(5);
    }
    expect(stderr).toMatch(said);
    if (name.startsWith('a reader')) {
      expect((await get(`${url}/metrics`)).text).toMatch(/^accounts_gateway_log_lines_dropped_total [1-9]/m);
    }
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });
});

describe('a log reader that stops reading but stays connected', () => {
  it('does not delay the stop', async () => {
    const path = join(temporaryDirectory(), 'log');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, 'r+');
    const { child, url } = await startWithOutput([reader, 'pipe']);
    // a pipe buffers 64 KB
    const address = `${url}/nothing`;
    for (let call = 0; call < 800; call += 50)
      await Promise.all(Array.from({ length: 50 }, () => get(address, { 'x-client-name': 'x'.repeat(100) })));
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    closeSync(reader);
  });
});

type OutputOptions = readonly ['pipe' | number, 'pipe' | number];

/** The program with these for its standard output and standard error, once it is alive. */
async function startWithOutput(outputs: OutputOptions): Promise<{ child: ChildProcess; url: string }> {
  const port = await closedPort();
  const child = spawn(process.execPath, ['--disable-sigusr1', join(process.env['BUILT_SOURCES'] ?? '', 'main.js')], {
    cwd: temporaryDirectory(),
    env: { PATH: process.env['PATH'], ...programEnvironment(bank, { PORT: String(port) }) },
    stdio: ['ignore', ...outputs],
  });
  const url = `http://127.0.0.1:${port}`;
  const alive = () =>
    get(`${url}/health/live`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(alive);
  return { child, url };
}

describe('calls in flight', () => {
  const start = (env: Record<string, string> = {}) =>
    startProgram({ env: programEnvironment(bank, env), cwd: temporaryDirectory() });
  const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;
  /** A process after its first refresh, with one call in flight at the bank. */
  async function startWithCallInFlight(env: Record<string, string> = {}) {
    const program = await start(env);
    const url = await program.started();
    await until(() => program.events('snapshot.refreshed').length === 1);
    const letGo = holdAccounts(bank);
    const inFlight = get(`${url}/api/v1/accounts`, { 'cache-control': 'max-age=0' });
    // looked at later than it may fail
    inFlight.catch(() => undefined);
    await until(() => lists() === 2);
    return { program, url, letGo, inFlight };
  }
  describe('a stop loses no call', () => {
    it.each(['SIGTERM', 'SIGINT'] as const)(
      '%s: the call in flight completes, idle connections are closed, exit code 0',
      async (signal) => {
        const { program, url, letGo, inFlight } = await startWithCallInFlight();
        const agent = new Agent({ keepAlive: true });
        const idle = Promise.withResolvers<void>();
        request(`${url}/health/live`, { agent }, (response) => {
          response.resume();
          response.socket.once('close', () => idle.resolve());
        }).end();
        await until(() => Object.keys(agent.freeSockets).length === 1);
        program.child.kill(signal);
        await until(() => program.events('gateway.stopping').length === 1);
        await idle.promise;
        await expect(get(`${url}/health/live`)).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
        letGo();
        const answer = await inFlight;
        expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
        expect(await program.exit).toBe(0);
        agent.destroy();
        expect(program.events('gateway.stopped')).toHaveLength(1);
        expect(program.stderr()).toBe('');
        await until(() => bank.sockets.size === 0);
      },
    );

    it('but a second signal ends the process at once', async () => {
      const { program, inFlight } = await startWithCallInFlight({ SHUTDOWN_GRACE_MS: '60000' });
      program.child.kill('SIGTERM');
      await until(() => program.events('gateway.stopping').length === 1);
      program.child.kill('SIGTERM');
      expect(await program.exit).toBe(1);
      await inFlight.catch(() => null);
    });

    it('and is not delayed by an endless token request that nobody waits for', async () => {
      bank.onToken = () => undefined;
      const program = await start({ BANK_REQUEST_TIMEOUT_MS: '60000' });
      await program.started();
      await until(() => bank.requests.length === 1);
      program.child.kill('SIGTERM');
      expect(await program.exit).toBe(0);
    });
  });
});

/** One call; `isKept` is true if its connection had served another before. */
async function callOnce(url: string, agent: Agent): Promise<{ isKept: boolean; failure: string | null }> {
  const call = request(url, { agent });
  const isAnswered = new Promise<void>((resolve, reject) => {
    call.on('response', (response) => response.on('error', reject).on('end', resolve).resume());
    call.on('error', reject);
  });
  call.end();
  const failure = await isAnswered.then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  return { isKept: call.reusedSocket, failure };
}
