import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { parseEnv } from 'node:util';
import { sandboxGreeting } from './sandbox-greeting.js';

const at = (directory: string): Parameters<typeof sandboxGreeting>[0] => ({
  url: 'https://127.0.0.1:8443',
  authUrl: 'https://127.0.0.1:9443',
  controlUrl: 'http://127.0.0.1:8444',
  directory,
  isIdentityReplaced: false,
  files: {
    ca: `${directory}/ca.pem`,
    pfx: `${directory}/client.pfx`,
    passcode: `${directory}/passcode`,
    username: `${directory}/username`,
    password: `${directory}/password`,
  },
});

describe('sandboxGreeting', () => {
  it('prints commands that a shell can run, whatever the name of the directory', () => {
    for (const directory of ['/plain', "/it's $HOME & more", '/a b:c']) {
      const commands = sandboxGreeting(at(directory))
        .split('\n')
        .filter((line) => /^(curl|TOKEN=)/.test(line));
      expect(commands).toHaveLength(6);
      expect(() => execFileSync('sh', ['-n', '-c', commands.join('\n')])).not.toThrow();
    }
  });

  it('prints settings that a gateway accepts', () => {
    for (const directory of ['/plain', '/a b#c']) {
      expect(parseEnv(sandboxGreeting(at(directory)))).toMatchObject({
        BANK_BASE_URL: 'https://127.0.0.1:8443',
        BANK_AUTH_URL: 'https://127.0.0.1:9443',
        BANK_CA_FILE: `${directory}/ca.pem`,
        BANK_PFX_FILE: `${directory}/client.pfx`,
        BANK_PFX_PASSCODE_FILE: `${directory}/passcode`,
        BANK_USERNAME_FILE: `${directory}/username`,
        BANK_PASSWORD_FILE: `${directory}/password`,
      });
    }
  });
});
