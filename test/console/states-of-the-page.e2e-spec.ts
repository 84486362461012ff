import { expect, it } from '@jest/globals';
import type { ProblemEntry } from '../../src/pages/console/web/gateway.js';
import type { Health } from '../../src/pages/console/web/health.js';
import { toIncident } from '../../src/pages/console/web/incident.js';
import { toPath } from '../../src/pages/console/web/path.js';
import { PAGE_STATES, type PageState } from './page-states.js';

it.each(Object.entries<PageState>(PAGE_STATES))(
  'when %s: /health of a real gateway gives the sentence, the path, and who acts',
  async (_name, { arrange, sentence, path, owner }) => {
    const gateway = await arrange();
    const health = (await gateway.get('/health')).json as Health;
    const problems = (await gateway.get('/problems', { accept: 'application/json' })).json as ProblemEntry[];
    const now = Date.now();
    const incident = toIncident(health, now, problems);
    expect(incident?.impact ?? 'Operational').toMatch(sentence);
    expect(incident?.trouble.owner).toBe(owner);
    expect(toPath(health, null, now).map(({ level }) => level)).toEqual(path);
  },
);
