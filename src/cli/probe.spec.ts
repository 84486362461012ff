import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createNetServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthority, type Authority } from '../../test/support/authority.js';
import { onClose, temporaryDirectory } from '../../test/support/closing.js';
import { closedPort } from '../../test/support/servers.js';
import { probe } from './probe.js';

let authority: Authority;
beforeAll(() => {
  authority = createAuthority('Nobody trusts this');
});

async function listen(server: Server, host = '127.0.0.1'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onClose(() => server.close());
  return String((server.address() as AddressInfo).port);
}

const answer =
  (status: number, path = '/health/live'): RequestListener =>
  ({ url }, response) =>
    void response.writeHead(url === path ? status : 404).end('{}');

async function run(env: Record<string, string>, options: Partial<Parameters<typeof probe>[1]> = {}) {
  const written: string[] = [];
  const process = { env, stderr: { write: (text: string) => written.push(text) } } as unknown as NodeJS.Process;
  const exitCode = await probe(process, { ready: false, ...options }, 300);
  return { exitCode, said: written.join('') };
}

describe('a gateway that responds', () => {
  it.each([{}, { HOST: '' }, { HOST: '0.0.0.0' }, { HOST: '127.0.0.1' }])(
    'with %j leads to exit code 0, and no output',
    async (at) => {
      const PORT = await listen(createServer(answer(200)));
      expect(await run({ ...at, PORT })).toEqual({ exitCode: 0, said: '' });
    },
  );

  it('is recognized over HTTPS by the certificate in TLS_CERT_FILE, whatever its name', async () => {
    const files = temporaryDirectory();
    const [own, other] = [authority.server(['a.internal']), authority.server(['a.internal'])];
    for (const [name, { cert }] of Object.entries({ own, other })) writeFileSync(join(files, name), cert);
    const PORT = await listen(createTlsServer({ cert: own.cert, key: own.key }, answer(200)));
    expect(await run({ PORT, TLS_CERT_FILE: join(files, 'own') })).toEqual({ exitCode: 0, said: '' });
    const rejected = await run({ PORT, TLS_CERT_FILE: join(files, 'other') });
    expect([rejected.exitCode, rejected.said]).toEqual([
      1,
      expect.stringMatching(/^.*https:\/\/.* does not answer: .+\n$/),
    ]);
  });
});

describe('--ready', () => {
  it('requests /health/ready; without it, the probe requests /health/live', async () => {
    const PORT = await listen(createServer(answer(200, '/health/ready')));
    expect(await run({ PORT }, { ready: true })).toEqual({ exitCode: 0, said: '' });
    expect((await run({ PORT })).exitCode).toBe(1);
  });

  it('retries until the instance is ready if --wait is set', async () => {
    const port = await closedPort();
    const asked = run({ PORT: String(port) }, { ready: true, wait: '600' });
    let calls = 0;
    const server = createServer((request, response) =>
      answer((calls += 1) < 3 ? 503 : 200, '/health/ready')(request, response),
    );
    onClose(() => server.close());
    server.listen(port, '127.0.0.1');
    expect(await asked).toEqual({ exitCode: 0, said: '' });
    expect(calls).toBe(3);
  });

  it('the negative case: exits with 1 and prints one line if the instance is not ready in time', async () => {
    const PORT = await listen(createServer(answer(503, '/health/ready')));
    expect(await run({ PORT }, { ready: true, wait: '1' })).toEqual({
      exitCode: 1,
      said: expect.stringMatching(/^.*\/health\/ready answered 503\n$/),
    });
  });
});

describe('a failed probe prints one line with the reason, and exits with 1, if', () => {
  it('nobody listens', async () => {
    const { exitCode, said } = await run({ PORT: String(await closedPort()) });
    expect([exitCode, said]).toEqual([
      1,
      expect.stringMatching(/^.*127\.0\.0\.1:\d+\/health\/live .*ECONNREFUSED.*\n$/),
    ]);
  });

  it('the gateway returns an error', async () => {
    const PORT = await listen(createServer(answer(500)));
    expect(await run({ PORT })).toEqual({ exitCode: 1, said: expect.stringMatching(/ answered 500\n$/) });
  });

  it.each(['abc', '70000', '-1'])('PORT=%s is not a port', async (PORT) => {
    expect(await run({ PORT })).toEqual({
      exitCode: 1,
      said: `accounts-gateway probe: http://127.0.0.1:${PORT}/health/live is no address; correct HOST or PORT\n`,
    });
  });

  it('the gateway hangs', async () => {
    const PORT = await listen(createNetServer((socket) => onClose(() => socket.destroy())));
    expect(await run({ PORT })).toEqual({ exitCode: 1, said: expect.stringMatching(/no response within 300 ms\n$/) });
  });

  it.each([
    ['/none', 'does not exist'],
    ['/dev/zero', 'is not a regular file'],
  ])('TLS_CERT_FILE=%s %s', async (TLS_CERT_FILE, reason) => {
    const { exitCode, said } = await run({ TLS_CERT_FILE });
    expect(exitCode).toBe(1);
    expect(said).toMatch(new RegExp(`^.*: TLS_CERT_FILE points to ${TLS_CERT_FILE}, which ${reason}\n$`));
  });
});
