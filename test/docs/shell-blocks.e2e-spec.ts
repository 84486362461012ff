import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { PROBLEMS } from '../../src/errors/problem-table.js';
import { read, readDocument } from '../support/documents.js';
import { startRedis } from '../support/redis.js';
import { directoryWithIdentity } from '../support/sandbox.js';
import { hasJq, hasOpenssl, hasRedis, hasSystemdAnalyze, pathOf } from '../support/tools.js';

/** The lines in a document's shell blocks, with continuation lines joined. */
const shellLinesOf = (document: string): string[] =>
  [...document.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
    .flatMap(([, block = '']) => block.replace(/\\\n/g, ' ').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

(hasJq() ? describe : describe.skip)('the lines with jq in docs/logs.md', () => {
  const WANTED = [
    { level: 'info', requestId: '29da4ff4-3b8a-4f58-9f0a-9d24d74c755a' },
    { level: 'error', requestId: 'another' },
  ];
  const LOG = [
    'Started accounts-gateway.service.',
    JSON.stringify({ level: 'info', requestId: 'third' }),
    ...WANTED.map((line) => JSON.stringify(line)),
  ];
  const lines = shellLinesOf(readDocument('docs/logs.md')).filter((line) => line.includes('| jq '));

  it('find a call and the errors in a log with a line from systemd', () => {
    const file = join(temporaryDirectory(), 'log');
    writeFileSync(file, `${LOG.join('\n')}\n`);
    const found = lines.map((line) => {
      const [, options = '', filter = ''] = /\| jq (-\w+) '([^']*)'$/.exec(line) ?? [];
      return JSON.parse(execFileSync(pathOf('jq'), [options, filter, file], { encoding: 'utf8' })) as unknown;
    });
    expect(found).toEqual(WANTED);
  });
});

it('the doctor of docs/troubleshooting.md runs as the unit does: its user, settings and program', () => {
  const unit = read('config/systemd/accounts-gateway.service');
  const valueOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? 'none';
  const line = shellLinesOf(readDocument('docs/troubleshooting.md')).find((each) => each.includes('systemd-run'));
  // systemd reads the file: node --env-file cuts a value at #, and runuser keeps the variables of root's shell
  expect(line).toContain(` --uid=${valueOf('User')} -p EnvironmentFile=${valueOf('EnvironmentFile')} `);
  const program = valueOf('ExecStart').replace(' --disable-sigusr1', '');
  expect(line).toMatch(new RegExp(` env ${valueOf('Environment')} ${program} doctor$`));
});

(hasSystemdAnalyze() ? describe : describe.skip)('the unit of config/systemd', () => {
  /** systemd's complaints about the unit, under a name. Empty if it is well formed. */
  const complaintsAbout = (unit: string, name: string) => {
    const file = join(temporaryDirectory(), name);
    // quoted, because the path may have a space
    writeFileSync(file, unit.replace(/(?<=^ExecStart=)\S+/m, `"${process.execPath}"`));
    const { stderr } = spawnSync(pathOf('systemd-analyze'), ['verify', '--man=no', file], { encoding: 'utf8' });
    return stderr;
  };
  const unit = read('config/systemd/accounts-gateway.service');

  it.each(['accounts-gateway.service', 'accounts-gateway@3000.service'])('is well formed as %s', (name) => {
    expect(complaintsAbout(unit, name)).toBe('');
  });

  it('the negative case: an unknown key is found', () => {
    expect(complaintsAbout(unit.replace('Restart=', 'Restrat='), 'accounts-gateway.service')).toContain('Restrat');
  });
});

(hasRedis() ? describe : describe.skip)('the steps with redis-cli', () => {
  it('work as the user in docs/fleet.md, except for what they leave to the administrator', async () => {
    const acl = /^user gateway .*$/m.exec(readDocument('docs/fleet.md'))?.[0] ?? '';
    const redis = await startRedis({ config: ['user default on nopass ~* &* +@all', acl] });
    const steps = PROBLEMS['sharing-unavailable'].steps.join('\n');
    const [, command = ''] = /`redis-cli -u <REDIS_URL> (\w+)`/.exec(steps) ?? [];
    const [, ofAdministrator = ''] = /administrator for `([^`]+)`/.exec(steps) ?? [];
    const run = (user: string, words: string) =>
      redis.cli('--no-auth-warning', '-u', redis.url.replace('//', `//${user}`), ...words.split(' '));
    expect(run('gateway:password@', command)).toBe('PONG\n');
    expect(run('gateway:password@', ofAdministrator)).toMatch(/^NOPERM /);
    expect(run('', ofAdministrator)).toContain('used_memory');
  });
});

(hasOpenssl() ? describe : describe.skip)('the lines with openssl in docs/certificates.md', () => {
  const lines = shellLinesOf(readDocument('docs/certificates.md')).filter((line) => line.includes('openssl'));

  it('encrypt a PFX again with AES, and leave no key behind', () => {
    const [identity, directory] = [directoryWithIdentity(), temporaryDirectory()];
    copyFileSync(join(identity, 'client.pfx'), join(directory, 'old.pfx'));
    const passcode = readFileSync(join(identity, 'passcode'), 'utf8').trim();
    const command = lines
      .join('\n')
      .replace(' -in old.pfx', ` -in old.pfx -passin 'pass:${passcode}'`)
      .replace(' -export ', " -export -passout 'pass:new' ")
      .replaceAll('openssl', pathOf('openssl'));
    execFileSync('sh', ['-euc', command], { cwd: directory, stdio: 'pipe' });
    const dump = spawnSync(pathOf('openssl'), ['pkcs12', '-info', '-noout', '-in', 'new.pfx', '-passin', 'pass:new'], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(dump.stderr).toContain('AES-256-CBC');
    expect(readdirSync(directory).toSorted()).toEqual(['new.pfx', 'old.pfx']);
  });
});
