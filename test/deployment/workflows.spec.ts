import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { read } from '../support/documents.js';

interface Job {
  readonly container?: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, unknown> }[];
}
const jobsOf = (name: string) =>
  Object.values((parse(read(`.github/workflows/${name}.yml`)) as { jobs: Record<string, Job> }).jobs);
const canWrite = ({ permissions = {} }: Job) => Object.values(permissions).includes('write');

describe.each(['ci', 'release', 'scan'])('the workflow %s', (name) => {
  it('pins each action by the commit of its release, keeps no token, and has no privileged container', () => {
    for (const { container, steps } of jobsOf(name)) {
      expect(JSON.stringify(container ?? null)).not.toContain('privileged');
      for (const step of steps.filter(({ uses }) => uses !== undefined)) {
        expect(step.uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        if (step.uses?.startsWith('actions/checkout@'))
          expect(step.with).toMatchObject({ 'persist-credentials': false });
      }
    }
  });
});

it.each([
  ['release', [true, false]],
  ['scan', [true, false, false]],
])('in the workflow %s, jobs that may write run no dependencies', (name, expected) => {
  const jobs = jobsOf(name);
  const runsCode = ({ steps }: Job) =>
    steps.some(({ uses = '', run = '' }) => /checkout/.test(uses) || /\b(npm|node|docker build)\b/.test(run));
  expect(jobs.map(runsCode)).toEqual(expected);
  expect(jobs.filter((job) => canWrite(job) && runsCode(job))).toEqual([]);
  expect(jobs.filter(canWrite)).toHaveLength(1);
});

it('each kind of dependency gets updates, after the days that .npmrc demands', () => {
  interface Update {
    readonly 'package-ecosystem': string;
    readonly cooldown: { readonly 'default-days': number };
  }
  const { updates } = parse(read('.github/dependabot.yml')) as { updates: readonly Update[] };
  const days = Number(/^min-release-age=(\d+)$/m.exec(read('.npmrc'))?.[1]);
  expect(Object.fromEntries(updates.map((each) => [each['package-ecosystem'], each.cooldown['default-days']]))).toEqual(
    {
      npm: days,
      docker: days,
      'docker-compose': days,
      'github-actions': days,
    },
  );
});
