import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { sandboxGreeting } from './sandbox-greeting.js';

const at = (directory: string): Parameters<typeof sandboxGreeting>[0] => ({
  url: 'https://127.0.0.1:8443',
  authUrl: 'https://127.0.0.1:9443',
  controlUrl: 'http://127.0.0.1:8444',
  directory,
  files: {
    ca: `${directory}/ca.pem`,
    pfx: `${directory}/client.pfx`,
    passcode: `${directory}/passcode`,
    username: `${directory}/username`,
    password: `${directory}/password`,
  },
});

describe('sandboxGreeting', () => {
  it('prints commands that a shell can read, whatever the directory is called', () => {
    for (const directory of ['/plain', "/it's $HOME & more", '/a b:c']) {
      const commands = sandboxGreeting(at(directory))
        .split('\n')
        .filter((line) => /^(curl|TOKEN=)/.test(line));
      expect(commands).toHaveLength(6);
      expect(() => execFileSync('sh', ['-n', '-c', commands.join('\n')])).not.toThrow();
    }
  });

  it('asks for the token at the authorization host, for accounts at the other', () => {
    const text = sandboxGreeting(at('/plain'));
    expect(text).toContain('https://127.0.0.1:9443/api/v1/authorizations/authorize');
    expect(text).toContain('https://127.0.0.1:8443/api/v1/accounts');
  });
});
