/** Unit specs are next to the code, end-to-end specs in test/. Needs `--experimental-vm-modules`, see `npm test`. */
export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testRegex: '\\.(e2e-)?spec\\.ts$',
  transform: { '^.+\\.ts$': '@swc/jest' },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  globalSetup: '<rootDir>/test/support/build-sources.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/close-after-tests.ts'],
  reporters: ['default', '<rootDir>/test/support/fail-without-tests.mjs', '<rootDir>/test/support/report-skipped.mjs'],
  testEnvironment: 'node',
  // ends a test that hangs; no busy machine is that slow
  testTimeout: 1_200_000,
  // tests spend much of their time waiting: six workers keep two cores busy
  maxWorkers: 6,
  // six processes with full heaps end together: on two busy cores that takes longer than the default 500 ms
  workerGracefulExitTimeout: 10_000,
};
