import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { renewSandboxClient } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import { askAccounts, askToken, directoryWithIdentity, getToken, ownCertificate, start } from '../support/sandbox.js';
import { startRawServer } from '../support/servers.js';

const read = (directory: string, name: string): string => readFileSync(join(directory, name), 'base64');

describe('starting the sandbox', () => {
  it('writes its identity readable only by its owner, and reuses it', async () => {
    const directory = join(temporaryDirectory(), 'deep', 'down');
    const first = await start({ SANDBOX_DIRECTORY: directory });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const names = readdirSync(directory);
    expect(names).toEqual(expect.arrayContaining(['ca.pem', 'client.pfx', 'passcode', 'username', 'password']));
    for (const name of names) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    for (const file of Object.values(first.files)) expect(isAbsolute(file)).toBe(true);
    // the server certificate is created at each start, for the names of that start
    const others = names.filter((name) => name !== 'server.pem');
    const kept = others.map((name) => read(directory, name));
    await start({ SANDBOX_DIRECTORY: directory });
    expect(others.map((name) => read(directory, name))).toEqual(kept);
  });

  it('keeps its files when SANDBOX_NAMES changes, and replaces them with --fresh or when one is broken', async () => {
    const directory = directoryWithIdentity();
    const parts = (): string[] => ['ca.pem', 'client.pfx'].map((name) => read(directory, name));
    const [ca, pfx] = parts();

    const named = await start({ SANDBOX_DIRECTORY: directory, SANDBOX_NAMES: ['bank.example', 'localhost'] });
    expect(parts()).toEqual([ca, pfx]);
    expect((await askToken(named, { servername: 'bank.example' })).status).toBe(200);

    writeFileSync(join(directory, 'passcode'), 'not the passcode');
    expect((await askToken(await start({ SANDBOX_DIRECTORY: directory }))).status).toBe(200);
    const broken = parts();
    expect(broken).not.toContain(pfx);
    await start({ SANDBOX_DIRECTORY: directory }, true);
    for (const part of parts()) expect(broken).not.toContain(part);
  });

  it('reports whether it replaced unusable files, even a FIFO or an endless one', async () => {
    const directory = temporaryDirectory();
    const isReplaced = async () => {
      const sandbox = await start({ SANDBOX_DIRECTORY: directory });
      await sandbox.close();
      return sandbox.isIdentityReplaced;
    };
    expect([await isReplaced(), await isReplaced()]).toEqual([false, false]);
    const file = join(directory, 'username');
    for (const create of [() => execFileSync('mkfifo', [file]), () => symlinkSync('/dev/zero', file)]) {
      rmSync(file);
      create();
      expect([await isReplaced(), await isReplaced()]).toEqual([true, false]);
    }
  });

  it('--renew writes a new client certificate, which a running sandbox accepts; it rejects tokens of the old one', async () => {
    const bank = await start({ SANDBOX_AUTH_PORT: 0 });
    const names = ['ca.pem', 'client.pfx', 'passcode', 'username', 'password'];
    const before = names.map((name) => read(bank.directory, name));
    const old = { certificate: ownCertificate(bank), token: await getToken(bank) };
    expect(await renewSandboxClient(bank.directory)).toBe(true);
    const changed = names.filter((name, index) => read(bank.directory, name) !== before[index]);
    expect(changed).toEqual(['client.pfx']);
    expect((await askAccounts(bank, await getToken(bank))).status).toBe(200);
    expect((await askAccounts(bank, old.token)).status).toBe(401);
    expect((await askAccounts(bank, old.token, '', old.certificate)).status).toBe(200);
  });

  it('--renew --new-ca writes a certificate from another root and intermediate, which a running sandbox accepts as well as the old one', async () => {
    const bank = await start();
    const ca = read(bank.directory, 'ca.pem');
    const old = ownCertificate(bank);
    expect((await askToken(bank)).status).toBe(200);
    for (let times = 0; times < 2; times++) {
      expect(await renewSandboxClient(bank.directory, { newCa: true })).toBe(true);
      expect((await askToken(bank)).status).toBe(200);
    }
    expect((await askToken(bank, old)).status).toBe(200);
    expect(read(bank.directory, 'ca.pem')).toBe(ca);
    // using its own file, as after a restart
    const again = await start({ SANDBOX_DIRECTORY: bank.directory });
    expect([again.isIdentityReplaced, (await askToken(again)).status]).toEqual([false, 200]);
    // the negative case: a new identity accepts none of them
    const late = ownCertificate(bank);
    const fresh = await start({ SANDBOX_DIRECTORY: bank.directory }, true);
    await expect(askToken(fresh, late)).rejects.toThrow();
  });

  it('--renew keeps the CA if only client.pfx is damaged, and renews everything if the CA is', async () => {
    const { directory, ...bank } = await start();
    await bank.close();
    const [ca, username] = ['ca.pem', 'username'].map((name) => read(directory, name));
    writeFileSync(join(directory, 'client.pfx'), 'noise');
    expect(await renewSandboxClient(directory)).toBe(true);
    expect([read(directory, 'ca.pem'), read(directory, 'username')]).toEqual([ca, username]);
    const again = await start({ SANDBOX_DIRECTORY: directory });
    expect([again.isIdentityReplaced, (await askToken(again)).status]).toEqual([false, 200]);
    writeFileSync(join(directory, 'ca-key.pem'), 'noise');
    expect(await renewSandboxClient(directory)).toBe(false);
    expect(read(directory, 'ca.pem')).not.toBe(ca);
  });

  it('has addresses with brackets if its name is an IPv6 address', async () => {
    const { url, controlUrl } = await start({ SANDBOX_HOST: '::', SANDBOX_NAMES: ['::1'] });
    expect([url, controlUrl]).toEqual([
      expect.stringMatching(/^https:\/\/\[::1\]:\d+$/),
      expect.stringMatching(/^http:\/\/\[::1\]:\d+$/),
    ]);
  });

  it.each(['SANDBOX_PORT', 'SANDBOX_AUTH_PORT', 'SANDBOX_CONTROL_PORT'])(
    'reports %s if that port is taken, and does not touch the identity',
    async (variable) => {
      const { port } = await startRawServer();
      const directory = temporaryDirectory();
      await expect(start({ SANDBOX_DIRECTORY: directory, [variable]: port }, true)).rejects.toMatchObject({
        name: 'SandboxNotStarted',
        message: expect.stringContaining(variable),
      });
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it('reports SANDBOX_DIRECTORY if it cannot be used', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const failure = { name: 'SandboxNotStarted', message: expect.stringContaining('SANDBOX_DIRECTORY') };
    await expect(start({ SANDBOX_DIRECTORY: file })).rejects.toMatchObject(failure);
    await expect(renewSandboxClient(file)).rejects.toMatchObject(failure);
    const { directory } = await start();
    rmSync(join(directory, 'server.pem'));
    mkdirSync(join(directory, 'server.pem'));
    await expect(start({ SANDBOX_DIRECTORY: directory })).rejects.toMatchObject(failure);
  });
});
