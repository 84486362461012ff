import { expect, it } from '@jest/globals';
import { KNOWN_NAMES } from './settings-schema.js';
import { fewFiles, unknownNames } from './warnings.js';

it.each([
  ['BANK_BASE_URI', 'BANK_BASE_URL'],
  ['BANK_PASWORD', 'BANK_PASSWORD'],
  ['BANK_PFX_PASSCODE_FIEL', 'BANK_PFX_PASSCODE_FILE'],
  ['SNAPSHOT_FRESH', 'SNAPSHOT_FRESH_MS'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['REDIS_UR', 'REDIS_URL'],
  ['LOG_LEVELS', 'LOG_LEVEL'],
])('%s is not a setting; the warning names %s but not the value, which may be a secret', (name, nearest) => {
  expect(unknownNames({ [name]: 'hunter2' })).toEqual([
    `${name} is not a setting and is ignored (did you mean ${nearest}?)`,
  ]);
});

it.each(['PATH', 'HOSTNAME', 'NODE_ENV', 'HTTPS_PROXY', 'TLSCERT', 'KUBERNETES_PORT', 'REDIS_SERVICE_PORT'])(
  '%s causes no warning, because it belongs to another program',
  (name) => {
    expect(unknownNames({ [name]: 'x' })).toEqual([]);
  },
);

it('no setting is reported as unknown', () => {
  expect(unknownNames(Object.fromEntries(KNOWN_NAMES.map((name) => [name, 'x'])))).toEqual([]);
});

it('a limit below 256 open files is reported', () => {
  expect(fewFiles(255)).toEqual([expect.stringContaining('RLIMIT_NOFILE')]);
  expect([fewFiles(256), fewFiles(Infinity)]).toEqual([[], []]);
});
