import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import { createAuthority } from '../../test/support/authority.js';
import { onClose, temporaryDirectory } from '../../test/support/closing.js';
import { call } from '../../test/support/call.js';
import { until } from '../../test/support/until.js';
import { LARGE } from '../../test/support/connections-server.js';
import type { Settings } from '../config/settings.js';
import { Activity } from '../telemetry/activity.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';
import { createHttp } from './create-http.js';
import { HTTP_LIMITS } from './http-limits.js';

test('over HTTPS a client that reads nothing costs a piece of its response', async () => {
  const authority = createAuthority('Callers trust this');
  const { cert, key } = authority.server(['localhost']);
  const directory = temporaryDirectory();
  const [certFile, keyFile] = [join(directory, 'tls.pem'), join(directory, 'tls.key')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const settings = {
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
    MAX_CONNECTIONS: 10,
    CORS_ORIGINS: [] as readonly string[],
    ALLOWED_HOSTS: ['localhost'] as readonly string[],
    ALLOWED_CLIENTS: ['loopback'] as readonly string[],
  } as Settings;
  const log = new Log({ level: 'silent', pretty: false, destination: { write: () => undefined } });
  const parts = { settings, clock: new Clock(), log, activity: new Activity(), limits: HTTP_LIMITS };
  const { fastify } = await createHttp(parts);
  let answered = 0;
  fastify.addHook('onSend', async () => void (answered += 1));
  fastify.get('/', async () => LARGE);
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  onClose(() => fastify.close());
  const { port } = fastify.server.address() as AddressInfo;
  const accepted: Socket[] = [];
  fastify.server.on('secureConnection', (socket: Socket) => accepted.push(socket));

  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.pem });
  onClose(() => socket.destroy());
  await once(socket, 'secureConnect');
  socket.pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => answered === 1 && (accepted[0]?.writableLength ?? 0) > 0);
  expect(accepted[0]?.writableLength).toBeLessThan(1_000_000);

  const options = { ca: authority.pem };
  const answer = await call(`https://localhost:${port}/`, options);
  expect(answer.headers).toMatchObject({ 'content-length': String(LARGE.length) });
  expect(answer.headers).not.toHaveProperty('transfer-encoding');
  const digest = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');
  expect(digest(answer.text)).toBe(digest(LARGE));
  const head = await call(`https://localhost:${port}/`, { ...options, method: 'HEAD' });
  expect(head).toMatchObject({ text: '', headers: { 'content-length': String(LARGE.length) } });
});
