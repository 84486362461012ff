import { renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { temporaryDirectory } from '../../test/support/closing.js';
import { GatewayError } from '../errors/gateway-error.js';
import { FileUnusable, readSmallFile } from '../files/small-file.js';
import { Clock } from '../time/clock.js';
import { RenewedFiles } from './renewed-files.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const second = () => jest.advanceTimersByTimeAsync(1000);

/** Files: content `bad…` cannot be read, and `late…` cannot be used within the first 10 s. */
async function follow() {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, 'first');
  const did: string[] = [];
  let inUse = '';
  let acceptsLate = false;
  const files = new RenewedFiles<string>({
    files: [path],
    clock: new Clock(),
    read: () => {
      const text = String(readSmallFile(path));
      did.push(`read ${text}`);
      if (text.startsWith('bad')) throw new FileUnusable(path, `is ${text}`);
      return text;
    },
    use: async (text, signal) => {
      if (text === inUse) return;
      did.push(`use ${text}`);
      if (text.startsWith('hang')) {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }
      if (text.startsWith('late') && !acceptsLate)
        throw new GatewayError('bank-rate-limited', 'too early', { retryAfterMs: 10_000 });
      inUse = text;
    },
    rejected: ({ message }, text) => void did.push(`rejected ${text}: ${message.replace(path, 'it')}`),
  });
  inUse = await files.open();
  did.length = 0;
  const write = async (text: string) => {
    writeFileSync(path, text);
    // still being written, then settled
    await second();
    await second();
  };
  return { files, did, path, write, inUse: () => inUse, accept: () => (acceptsLate = true) };
}

it('a change is read and put into use once', async () => {
  const { files, did, write, inUse } = await follow();
  await second();
  expect(did).toEqual([]);
  await write('second');
  await second();
  expect([did, inUse(), files.waiting]).toEqual([['read second', 'use second'], 'second', null]);
  files.close();
});

it.each<[string, (path: string) => void]>([
  ['touched', (path) => utimesSync(path, 1, 1)],
  ['written anew', (path) => writeFileSync(path, 'first')],
  [
    'replaced by a link, as in Kubernetes,',
    (path) => {
      renameSync(path, `${path}.other`);
      symlinkSync(`${path}.other`, path);
    },
  ],
])('a file that is %s with the same contents has not changed', async (_how, change) => {
  const { files, did, path } = await follow();
  change(path);
  for (let seconds = 0; seconds < 3; seconds++) await second();
  expect(did).toEqual([]);
  files.close();
});

it('a file that is still being written is read once it stops changing', async () => {
  const { files, did, path } = await follow();
  for (const text of ['s', 'sec', 'second']) {
    writeFileSync(path, text);
    await second();
  }
  expect(did).toEqual([]);
  await second();
  expect(did).toEqual(['read second', 'use second']);
  files.close();
});

it('a bad file changes nothing, is reported once for each change, and is read again after each back-off', async () => {
  const { files, did, write, inUse } = await follow();
  await write('bad');
  expect(did).toEqual(['read bad', 'rejected null: it is bad']);
  await second();
  await second();
  expect(did).toEqual(['read bad', 'rejected null: it is bad', 'read bad']);
  await jest.advanceTimersByTimeAsync(58_000);
  expect(did.filter((each) => each.startsWith('rejected'))).toHaveLength(1);
  // 1, 2, 4, 8, 16 s, each up to a fifth longer, and 30 s
  expect(did.length).toBeLessThan(9);
  expect([inUse(), files.waiting?.value, files.waiting?.error.message]).toEqual([
    'first',
    null,
    expect.stringContaining('is bad'),
  ]);
  await write('good');
  expect([inUse(), files.waiting]).toEqual(['good', null]);
  files.close();
});

it('files are tried again when their error demands it', async () => {
  const { files, did, write, inUse, accept } = await follow();
  await write('late');
  const since = files.waiting?.since;
  await jest.advanceTimersByTimeAsync(8000);
  expect(did).toEqual(['read late', 'use late', 'rejected late: too early']);
  await jest.advanceTimersByTimeAsync(3000);
  expect(did.slice(3)).toEqual(['read late', 'use late']);
  expect(files.waiting).toMatchObject({ value: 'late', since });
  accept();
  await jest.advanceTimersByTimeAsync(11_000);
  expect([inUse(), files.waiting]).toEqual(['late', null]);
  files.close();
});

it('a reload reads at once, and reports the same problem again', async () => {
  const { files, did, write } = await follow();
  await files.reload();
  expect(did).toEqual(['read first']);
  await write('bad');
  did.length = 0;
  await files.reload();
  expect(did).toEqual(['read bad', 'rejected null: it is bad']);
  files.close();
});

it('a change ends a hanging attempt', async () => {
  const { files, did, write, inUse } = await follow();
  await write('hang');
  await write('good');
  expect([inUse(), did.filter((each) => each.startsWith('rejected'))]).toEqual(['good', []]);
  files.close();
});

it('nothing is read after close', async () => {
  const { files, did, write } = await follow();
  files.close();
  await write('second');
  await files.reload();
  expect(did).toEqual([]);
});
