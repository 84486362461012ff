import { execFileSync } from 'node:child_process';
import { constants, openSync, writeSync } from 'node:fs';
import { Agent, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { bankForFile, holdAccounts } from '../support/bank-for-file.js';
import { call, get } from '../support/call.js';
import { onClose, temporaryDirectory } from '../support/closing.js';
import { connectionsOf } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { programEnvironment, type ProgramOptions, startProgram } from '../support/program.js';
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
  // a closing server has no timeouts: an open connection would delay it forever
  it('is not delayed beyond SHUTDOWN_GRACE_MS by silent connections, half a request, or a call in flight', async () => {
    const gateway = await startGateway(bank, { SHUTDOWN_GRACE_MS: '200' });
    bank.onAccounts = () => undefined;
    const outcome = gateway.get('/api/v1/accounts').then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    // browsers open connections in advance
    for (const text of ['', '', 'GET / HTTP/1.1\r\nHost: loc']) await dial(gateway.port, text);
    await until(async () => (await connectionsOf(gateway)) === 4 && bank.requests.length === 2);
    await gateway.close();
    expect([503, 'ECONNRESET']).toContain(await outcome);
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

  it('serves for SHUTDOWN_DELAY_MS while not ready, which /health explains; each response ends its connection', async () => {
    // as long as these calls can take on a busy machine
    const gateway = await startGateway(bank, { SHUTDOWN_DELAY_MS: '8000' });
    await gateway.get('/api/v1/accounts');
    const agent = new Agent({ keepAlive: true });
    let answers = 0;
    /** Calls until a response ends the connection, like a caller who then switches to another instance. */
    const callUntilClosed = async (): Promise<number> => {
      const { status, headers } = await call(`${gateway.url}/api/v1/accounts`, { agent });
      answers += 1;
      expect(status).toBe(200);
      return headers.connection === 'close' ? 1 : callUntilClosed();
    };
    const callers = Promise.all(Array.from({ length: 10 }, callUntilClosed));
    await until(() => answers > 20);
    const closed = gateway.close();
    expect((await gateway.get('/health/ready')).status).toBe(503);
    const { details } = (await gateway.get('/health')).json;
    expect(Object.entries(details)[0]).toMatchObject([
      'instance',
      { status: 'down', code: 'stopping', owner: 'operator' },
    ]);
    expect(await callers).toHaveLength(10);
    expect(Object.keys(agent.freeSockets)).toEqual([]);
    await closed;
  });

  it('resets no call over a kept connection', async () => {
    const gateway = await startGateway(bank);
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
    await until(() => answered >= 100);
    await Promise.all([gateway.close(), ...callers]);
    expect(resetCalls).toEqual([]);
  });
});

const startWith = (env: Record<string, string> = {}, options: Partial<ProgramOptions> = {}) =>
  startProgram({ env: programEnvironment(bank, env), cwd: temporaryDirectory(), ...options });

/** Node flags with which a process gets this signal as soon as it listens for any signal. */
function signalAtOnce(signal: NodeJS.Signals): { nodeFlags: string[] } {
  const preload = `process.once('newListener', () => queueMicrotask(() => process.kill(process.pid, '${signal}')))`;
  return { nodeFlags: [`--import=data:text/javascript,${encodeURIComponent(preload)}`] };
}

describe('a start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends without an error if it gets %s in its first moment', async (signal) => {
    const program = await startWith({}, signalAtOnce(signal));
    expect(await program.exit).toBe(0);
    expect(program.stderr()).toBe('');
  });

  it('ends without an error if it is stopped while it opens its files', async () => {
    const program = await startWith();
    await until(() => program.events('certificate.loaded').length > 0);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect(program.stderr()).toBe('');
  });

  it('is not ended by SIGHUP, in its first moment and later', async () => {
    const program = await startWith({}, signalAtOnce('SIGHUP'));
    await until(() => program.events('certificate.loaded').length > 0);
    program.child.kill('SIGHUP');
    await program.started();
  });

  it('ends with exit code 1 and one line with the remedy if the port is in use', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const program = await startWith({ PORT: String(port) });
    expect(await program.exit).toBe(1);
    expect(program.stderr().trim().split('\n')).toHaveLength(1);
    expect(program.stderr()).toMatch(new RegExp(`Port ${port} on 127.0.0.1 is taken .*PORT=`));
    expect(program.events('gateway.not-started')).toHaveLength(1);
    holder.close();
  });
});

describe('a log that cannot be written', () => {
  type Output = NonNullable<ProgramOptions['output']>;

  /** The program with these outputs, once it is running. */
  async function startWithOutput(output: Output) {
    const port = await closedPort();
    const program = await startWith({ PORT: String(port) }, { output });
    const url = `http://127.0.0.1:${port}`;
    const status = () =>
      get(`${url}/health/live`).then(
        ({ status }) => status,
        () => null,
      );
    await until(async () => (await status()) === 200);
    return { ...program, url };
  }

  it.each<[string, () => Output, RegExp]>([
    ['a full disk', () => [openSync('/dev/full', 'w'), 'pipe'], /^.*cannot be written \(ENOSPC\).*\n$/],
    ['a full disk under both outputs', () => [openSync('/dev/full', 'w'), openSync('/dev/full', 'w')], /^$/],
    ['a reader of both outputs that ends', () => ['pipe', 'pipe'], /^$/],
  ])('%s: the program continues to serve, and logs this once if it can', async (name, output, said) => {
    const { child, url, exit, stderr } = await startWithOutput(output());
    if (name.startsWith('a reader')) {
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      const dropped = /^accounts_gateway_log_lines_dropped_total [1-9]/m;
      await until(async () => dropped.test((await get(`${url}/metrics`)).text));
    }
    for (let call = 0; call < 10; call++) expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(stderr()).toMatch(said);
  });

  it('a reader that stops reading but stays connected does not delay the stop', async () => {
    const path = join(temporaryDirectory(), 'log');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const { child, url, exit } = await startWithOutput([openSync(path, 'w'), 'pipe']);
    // a pipe holds 64 KB
    const fill = () => {
      for (;;) writeSync(reader, 'x'.repeat(500));
    };
    expect(fill).toThrow('EAGAIN');
    for (let call = 0; call < 10; call++) await get(`${url}/nothing`);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });
});

describe('a graceful stop', () => {
  /** The program with a call in flight, whose bank answers once `letGo` is called. */
  async function startBusy(env: Record<string, string> = {}) {
    const program = await startWith({ SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0', ...env });
    const url = await program.started();
    await until(() => program.events('snapshot.refreshed').length === 1);
    const letGo = holdAccounts(bank);
    const inFlight = get(`${url}/api/v1/accounts`);
    // checked later than its possible failure
    inFlight.catch(() => undefined);
    await until(() => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length === 2);
    const isClosed = () =>
      get(`${url}/health/live`).then(
        () => false,
        () => true,
      );
    return { program, url, letGo, inFlight, isClosed };
  }

  it('completes the call in flight, closes idle connections and ends with exit code 0', async () => {
    const { program, url, letGo, inFlight, isClosed } = await startBusy();
    const agent = new Agent({ keepAlive: true });
    const idle = Promise.withResolvers<void>();
    request(`${url}/health/live`, { agent }, (response) => {
      response.resume();
      response.socket.once('close', () => idle.resolve());
    }).end();
    await until(() => Object.keys(agent.freeSockets).length === 1);
    program.child.kill('SIGTERM');
    await until(() => program.events('gateway.stopping').length === 1);
    await until(isClosed);
    letGo();
    const answer = await inFlight;
    await idle.promise;
    expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
    expect(await program.exit).toBe(0);
    agent.destroy();
    expect(program.events('gateway.stopped')).toHaveLength(1);
    expect(program.stderr()).toBe('');
    await until(() => bank.sockets.size === 0);
  });

  it('completes the call in flight even if it gets SIGHUP while it drains', async () => {
    const { program, letGo, inFlight, isClosed } = await startBusy({ SHUTDOWN_DELAY_MS: '500' });
    program.child.kill('SIGTERM');
    await until(() => program.events('gateway.stopping').length === 1);
    program.child.kill('SIGHUP');
    await until(() => program.events('config.reload').length === 1);
    await until(isClosed);
    program.child.kill('SIGHUP');
    await until(() => program.events('config.reload').length === 2);
    letGo();
    expect((await inFlight).status).toBe(200);
    expect(await program.exit).toBe(0);
    expect(program.stderr()).toBe('');
    expect(program.stdout()).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('is not delayed by an endless token request that nobody waits for', async () => {
    bank.onToken = () => undefined;
    const program = await startWith({ BANK_REQUEST_TIMEOUT_MS: '60000' });
    await program.started();
    await until(() => bank.requests.length === 1);
    program.child.kill('SIGINT');
    expect(await program.exit).toBe(0);
  });
});

/** Makes one call. `isKept` is true if its connection had already served another call. */
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
