import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from '@jest/globals';
import { workerUrl } from './worker-url.js';

it('a worker starts from the compiled sources, and finds its packages', async () => {
  const worker = new Worker(workerUrl('./problems/problem-document.js', import.meta.url));
  expect(await once(worker, 'exit')).toEqual([0]);
});

it('a worker whose file is not there does not start', async () => {
  const worker = new Worker(workerUrl('./problems/no-such.js', import.meta.url));
  await expect(once(worker, 'exit')).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' });
});
