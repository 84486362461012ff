import { spawn } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../support/closing.js';
import { startFleet } from '../support/fleet.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { startRedis, type Redis } from '../support/redis.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

/** All commands that reach Redis, as it shows them. */
function monitor(redis: Redis): () => string {
  const child = spawn('redis-cli', ['-h', '127.0.0.1', '-p', String(redis.port), 'MONITOR']);
  let sent = '';
  child.stdout.on('data', (chunk: Buffer) => (sent += chunk.toString('latin1')));
  onClose(async () => void child.kill('SIGKILL'));
  return () => sent;
}

/** What a value looks like in plain text, in UTF-16, in hex, and as any of the three alignments of base64. */
function formsOf(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(
      Buffer.concat([Buffer.alloc(shift), bytes])
        .toString('base64')
        .slice(4, -4),
    ),
  );
  return [bytes, Buffer.from(value, 'utf16le'), Buffer.from(bytes.toString('hex')), ...base64];
}

(hasRedis() ? describe : describe.skip)('Redis', () => {
  it('shows no name, IBAN, amount, token, user, password or address: not in keys, values, or commands', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    const seen = monitor(redis);
    await until(() => seen().includes('OK'));
    bank.onAccounts = listSample(200);
    const gateways = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '0' });
    for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await until(() => redis.cli('KEYS', '*').includes(':snapshot'));
    const dump = redis.everything();
    expect(dump.length).toBeGreaterThan(50_000);
    const commands = seen();
    expect(commands).toContain('EVAL');
    const planted = [
      ...Object.values(PLANTED),
      'Nordlys Handel',
      'Operating account',
      'COBADEFFXXX',
      'CurrentBalance',
      bank.username,
      bank.password,
      new URL(bank.url).host,
      ...bank.tokens,
    ];
    for (const value of planted) {
      for (const form of formsOf(value)) {
        expect([value, dump.includes(form)]).toEqual([value, false]);
        expect([value, commands.includes(form.toString('latin1'))]).toEqual([value, false]);
      }
    }
    const keys = redis.cli('KEYS', '*').split('\n').filter(Boolean);
    expect(keys.filter((key) => !/^accounts-gateway:[0-9a-f]{16}:(snapshot|lock)$/.test(key))).toEqual([]);
    // nothing stays for ever: -1 would be without an end, -2 is gone meanwhile
    for (const key of keys) expect([key, redis.cli('PTTL', key).trim()]).not.toEqual([key, '-1']);
  });

  it('negative case: the same search finds what is there in the clear', async () => {
    const redis = await startRedis({ config: ['rdbcompression no'] });
    redis.cli('SET', 'a', `xx${PLANTED.iban}xx`);
    redis.cli('SET', 'b', Buffer.from(`y${PLANTED.iban}y`).toString('base64'));
    const dump = redis.everything();
    expect(formsOf(PLANTED.iban).filter((form) => dump.includes(form)).length).toBeGreaterThanOrEqual(2);
  });
});
