/** Unit specs lie beside the code, end-to-end specs in test/. Both run the TypeScript as ES modules. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testRegex: '\\.(e2e-)?spec\\.ts$',
  extensionsToTreatAsEsm: ['.ts'],
  globalSetup: '<rootDir>/test/support/build-sources.ts',
  setupFiles: ['<rootDir>/test/support/plugin-names.ts'],
  moduleNameMapper: {
    // workers run compiled: see test/support/build-sources.ts
    '^(\\.{1,2}/)+worker-url\\.js$': '<rootDir>/test/support/worker-url.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // by .swcrc, as the build
  transform: { '^.+\\.ts$': '@swc/jest' },
  testTimeout: 30_000,
  // much of the time is spent waiting for timeouts: two side by side, on one core as well
  maxWorkers: 2,
  // module instances of finished files are not given back otherwise
  workerIdleMemoryLimit: '1GB',
};
