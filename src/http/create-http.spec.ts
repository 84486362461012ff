import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, it } from '@jest/globals';
import { createAuthority } from '../../test/support/authority.js';
import { call } from '../../test/support/call.js';
import { onClose, temporaryDirectory } from '../../test/support/closing.js';
import { until } from '../../test/support/until.js';
import type { Settings } from '../config/settings.js';
import { toGatewayError } from '../errors/gateway-error.js';
import { Activity } from '../telemetry/activity.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';
import { createHttp } from './create-http.js';
import { HTTP_LIMITS } from './http-limits.js';
import { sendProblem } from './send-problem.js';

/** More bytes than the system buffers for a client that reads nothing. */
const LARGE = Buffer.alloc(16 * 1024 * 1024);
const authority = createAuthority('Callers trust this');

/** A server whose `/` sends `body`. */
async function serve({ tls = false, body = LARGE as Buffer | string, limits = {} }) {
  const files = tls && certificateFiles();
  const settings = {
    HOST: '127.0.0.1',
    ...files,
    MAX_CONNECTIONS: 10,
    REQUEST_DEADLINE_MS: 100,
    CORS_ORIGINS: [] as readonly string[],
    ALLOWED_HOSTS: ['localhost'] as readonly string[],
    ALLOWED_CLIENTS: ['loopback'] as readonly string[],
  } as Settings;
  const log = new Log({ level: 'silent', pretty: false, destination: { write: () => undefined } });
  const statuses: number[] = [];
  const activity = new Activity().on('requestEnded', ({ status }) => statuses.push(status));
  const parts = {
    settings,
    clock: new Clock(),
    log,
    activity,
    limits: { ...HTTP_LIMITS, ...limits },
    toFailurePage: () => '',
  };
  const { fastify } = await createHttp(parts);
  fastify.setErrorHandler((error, _request, reply) => sendProblem(reply, toGatewayError(error)));
  fastify.get('/', async (_request, reply) => reply.header('etag', '"a"').send(body));
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  onClose(() => fastify.close());
  const { port } = fastify.server.address() as AddressInfo;
  const accepted: Socket[] = [];
  fastify.server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => accepted.push(socket));
  /** A client that sends a request and reads nothing. */
  const dial = async () => {
    const to = { port, host: '127.0.0.1' };
    const socket = tls ? connectTls({ ...to, servername: 'localhost', ca: authority.pem }) : connectPlain(to);
    onClose(() => socket.destroy());
    await once(socket, tls ? 'secureConnect' : 'connect');
    socket.pause().on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return socket;
  };
  const ask = (method = 'GET') =>
    call(`http${tls ? 's' : ''}://localhost:${port}/`, { method, ...(tls && { ca: authority.pem }) });
  return { dial, ask, accepted, statuses };
}

function certificateFiles() {
  const { cert, key } = authority.server(['localhost']);
  const directory = temporaryDirectory();
  const [certFile, keyFile] = [join(directory, 'tls.pem'), join(directory, 'tls.key')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
}

it('over HTTPS, a client that reads nothing costs only one piece of its response', async () => {
  const { dial, ask, accepted } = await serve({ tls: true });
  await dial();
  await until(() => (accepted[0]?.writableLength ?? 0) > 0);
  expect(accepted[0]?.writableLength).toBeLessThan(1_000_000);

  const answer = await ask();
  expect(answer.headers).toMatchObject({ 'content-length': String(LARGE.length) });
  expect(answer.headers).not.toHaveProperty('transfer-encoding');
  const digest = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');
  expect(digest(answer.text)).toBe(digest(LARGE));
  expect(await ask('HEAD')).toMatchObject({ text: '', headers: { 'content-length': String(LARGE.length) } });
});

it.each([false, true])('a client that reads nothing is disconnected (HTTPS: %s)', async (tls) => {
  const { dial, accepted, statuses } = await serve({ tls, limits: { inactiveMs: 300, inactiveAfterDeadlineMs: 200 } });
  await dial();
  await until(() => accepted[0]?.destroyed === true && statuses.length === 1);
  expect(statuses).toEqual([499]);
});

it('the negative case: a client that reads a little now and then gets everything', async () => {
  const { dial, statuses } = await serve({ limits: { inactiveMs: 1000 } });
  const socket = await dial();
  let read = 0;
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    socket.pause();
  });
  const reads = setInterval(() => socket.resume(), 5);
  onClose(() => clearInterval(reads));
  await until(() => read > LARGE.length);
  await until(() => statuses.length === 1);
  expect(statuses).toEqual([200]);
});

it('a body beyond the limit of bytes in flight is overloaded; once others are sent, it is served', async () => {
  const { dial, ask, accepted } = await serve({ limits: { bytesUnderWay: LARGE.length } });
  const slow = await dial();
  await until(() => (accepted[0]?.writableLength ?? 0) > 0);
  const rejected = await ask();
  expect([rejected.status, rejected.headers['retry-after'], rejected.headers.etag]).toEqual([503, '1', undefined]);
  expect(await ask('HEAD')).toMatchObject({ status: 503 });
  slow.destroy();
  await until(() => accepted[0]?.destroyed === true);
  expect((await ask()).status).toBe(200);
});
