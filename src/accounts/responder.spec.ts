import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { snapshotOf } from '../../test/support/sample-snapshots.js';
import type { Settings } from '../config/settings.js';
import type { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { Downloads } from './downloads.js';
import { EncodedResponses, toJsonBody } from './encoded-responses.js';
import { Responder } from './responder.js';

it('Age includes the time in which a response was built; max-age ends with the maximum age of the snapshot', async () => {
  const served = { snapshot: snapshotOf([]), ageMs: 0, stale: false, cache: 'hit', failure: null };
  const snapshots = { getCached: () => served } as unknown as SnapshotCache;
  const settings = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 5000, REQUEST_DEADLINE_MS: 15_000 } as Settings;
  const responder = new Responder(snapshots, new EncodedResponses(), new Downloads(), settings);
  const sent: Record<string, string>[] = [];
  const reply = { headers: (headers: Record<string, string>) => (sent.push(headers), { send: () => undefined }) };
  const request = { url: '/api/v1/balances', headers: {}, logFields: {} };
  await responder.sendJson(request as FastifyRequest, reply as unknown as FastifyReply, async () => {
    await delay(1100);
    return toJsonBody({ totals: [] });
  });
  expect(Number(sent[0]?.['age'])).toBeGreaterThanOrEqual(1);
  expect(sent[0]?.['cache-control']).toMatch(/^private, max-age=[0-3]$/);
});
