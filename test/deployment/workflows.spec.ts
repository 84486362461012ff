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

describe.each(['ci', 'release'])('the workflow %s', (name) => {
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

it('in the release, jobs with permissions run no dependencies, and jobs that run dependencies have no permissions', () => {
  const jobs = jobsOf('release');
  const runsCode = ({ steps }: Job) =>
    steps.some(({ uses = '', run = '' }) => /checkout/.test(uses) || /\b(npm|node|docker build)\b/.test(run));
  expect(jobs.map((job) => [canWrite(job), runsCode(job)])).toEqual([
    [false, true],
    [true, false],
  ]);
});
