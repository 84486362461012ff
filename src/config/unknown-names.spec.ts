import { describe, expect, it } from '@jest/globals';
import { unknownNames } from './unknown-names.js';
import { KNOWN_NAMES } from './variables.js';

describe('a variable that is not a setting', () => {
  it.each([
    ['BANK_BASE_URI', 'BANK_BASE_URL'],
    ['BANK_PASWORD', 'BANK_PASSWORD'],
    ['BANK_PFX_PASSCODE_FIEL', 'BANK_PFX_PASSCODE_FILE'],
    ['SNAPSHOT_FRESH', 'SNAPSHOT_FRESH_MS'],
    ['EGRESS_PROXY_URI', 'EGRESS_PROXY_URL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['ALLOWED_HOST', 'ALLOWED_HOSTS'],
    ['TLS_CERT', 'TLS_CERT_FILE'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
    ['bank_username', 'BANK_USERNAME'],
    ['BNAK_USERNAME', 'BANK_USERNAME'],
  ])('%s is named together with %s', (name, nearest) => {
    expect(unknownNames({ [name]: 'x' })).toEqual([
      `${name} is not a setting and is ignored; did you mean ${nearest}?`,
    ]);
  });

  it('is named without its value, which may be a misspelt secret', () => {
    expect(unknownNames({ BANK_PASSWORT: 'hunter2' }).join()).not.toContain('hunter2');
  });

  it.each(['PATH', 'HOME', 'HOSTNAME', 'NODE_ENV', 'npm_config_cache', 'HTTPS_PROXY', 'LANG', 'TLSCERT'])(
    '%s is none of ours, and nothing is said',
    (name) => {
      expect(unknownNames({ [name]: 'x' })).toEqual([]);
    },
  );

  it('no setting of ours is called unknown', () => {
    expect(unknownNames(Object.fromEntries(KNOWN_NAMES.map((name) => [name, 'x'])))).toEqual([]);
  });
});
