import { expect, it } from '@jest/globals';
import type { ProblemEntry } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';
import { toIncident, type Incident } from '../../src/pages/console/web/status/incident.js';
import { toNote, toReport } from '../../src/pages/console/web/status/report.js';
import { toPath } from '../../src/pages/console/web/status/path.js';
import type { Answer } from '../support/gateway.js';
import { PAGE_STATES, type PageState } from './page-states.js';

/** The times in a sentence, as seconds of the day. */
const timesIn = (sentence: string): string[] => sentence.match(/\d\d:\d\d:\d\d/g) ?? [];

/** The result of a call, in the words of the page. */
function toGot({ status, json }: Answer): Incident['served'] {
  if (status !== 200) return 'none';
  if (json.page.total === 0) return 'empty';
  return json.snapshot.stale ? 'copy' : 'current';
}

it.each(Object.entries<PageState>(PAGE_STATES))(
  'when %s: the sentences match what a call returns at that moment, and path and owner are right',
  async (_name, { arrange, sentence, path, owner }) => {
    const gateway = await arrange();
    const health = (await gateway.get('/health')).json as Health;
    const call = await gateway.get('/api/v1/accounts', { accept: 'application/json' });
    const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
    const now = Date.now();
    const incident = toIncident(health, now, problems);
    expect(incident?.headline ?? 'Operational').toMatch(sentence);
    expect(incident?.cause.owner).toBe(owner);
    expect(toPath(health, null, now).map(({ level }) => level)).toEqual(path);
    expect(incident?.served ?? 'current').toBe(toGot(call));
    if (!incident) return;
    if (incident.served === 'none')
      expect([call.status, call.json.code]).toEqual([incident.status, incident.cause.code]);
    if (incident.copy) {
      expect(incident.copy.asOf).toBe(call.json.snapshot.asOf);
      expect(timesIn(incident.headline)).toEqual(
        [incident.copy.asOf, incident.copy.expiresAt].map((at) => at.slice(11, 19)),
      );
    }
    for (const text of [
      incident.headline,
      incident.doNow,
      toReport(incident, health, now),
      toNote(incident, health, now),
    ]) {
      expect(text).not.toMatch(/undefined|null|NaN|Invalid|\{when\}| {3,}\n/);
    }
    // one piece of advice, with one deadline
    expect(incident.doNow.match(/\b(now|before)\b/g) ?? []).toHaveLength(1);
    expect(toReport(incident, health, now)).not.toMatch(/\byour apps?\b/i);
  },
);
