import { describe, expect, it } from '@jest/globals';
import { until } from '../../test/support/until.js';
import { account, snapshotOf } from '../../test/support/sample-snapshots.js';
import type { ServedSnapshot } from '../snapshot/snapshot-cache.js';
import { EncodedResponses, type BuildJson } from './encoded-responses.js';

const MB = 1024 * 1024;

const served = {
  snapshot: snapshotOf([account()]),
  stale: false,
  cache: 'hit',
  ageMs: 0,
} as unknown as ServedSnapshot;

const bodyOf =
  (bytes: number): BuildJson =>
  () => {
    const json = Buffer.alloc(bytes, ' ');
    return Promise.resolve({ parts: [json], bytes: json.length });
  };

describe('encoded responses', () => {
  it('are kept up to 4 MB each', async () => {
    const responses = new EncodedResponses();
    const { body } = await responses.get(served, 'small', 'identity', bodyOf(4 * MB));
    expect(Buffer.isBuffer(body) && responses.find(served, 'small', 'identity')?.body).toBe(body);
    const large = await responses.get(served, 'large', 'br', bodyOf(4 * MB + 1));
    expect([large.encoding, Array.isArray(large.body)]).toEqual(['identity', true]);
    expect(responses.find(served, 'large', 'identity')).toBeUndefined();
  });

  it('are kept up to 32 MB for one snapshot; the one that was asked for longest ago is dropped', async () => {
    const responses = new EncodedResponses();
    const has = (key: number) => responses.find(served, String(key), 'identity') !== undefined;
    for (let key = 0; key < 10; key++) {
      await responses.get(served, String(key), 'identity', bodyOf(3.5 * MB));
      expect(has(0)).toBe(true);
    }
    expect(Array.from({ length: 10 }, (_, key) => has(key))).toEqual([true, false, ...Array<boolean>(8).fill(true)]);
  });

  it('are built at most 8 at once', async () => {
    const responses = new EncodedResponses();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let building = 0;
    let most = 0;
    const build: BuildJson = async (from) => {
      most = Math.max(most, ++building);
      await released;
      building -= 1;
      return bodyOf(10)(from);
    };
    const all = Array.from({ length: 20 }, (_, key) => responses.get(served, String(key), 'identity', build));
    await until(() => building === 8);
    release();
    await Promise.all(all);
    expect(most).toBe(8);
  });
});
