import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FakeClock } from '../../test/support/fake-clock.js';
import { onClose } from '../../test/support/closing.js';
import { RedisConnection } from './redis-connection.js';

const directory = mkdtempSync(join(tmpdir(), 'redis-connection-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('a REDIS_CA_FILE that became too large at run time is not read, and the connection is retried', async () => {
  const path = join(directory, 'ca.pem');
  writeFileSync(path, Buffer.alloc(1_048_577));
  // nothing listens on port 1
  const url = { file: null, read: () => 'rediss://127.0.0.1:1' };
  const settings = { REDIS_URL: url, REDIS_CA_FILE: path, REDIS_KEY_PREFIX: 'test:' };
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), new FakeClock());
  onClose(() => connection.close());
  await connection.connect();
  expect(connection.trouble).toBe('REDIS_URL_FILE or REDIS_CA_FILE cannot be read (FileUnusable)');
});
