/**
 * Unit specs lie beside the code, end-to-end specs in test/. All run in a few processes that Node itself loads the TypeScript
 * into (test/support/load-typescript.js), so that what one file has loaded and made fast serves the next.
 */
export default {
  runner: ['jest-light-runner', { runtime: 'child_process' }],
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testRegex: '\\.(e2e-)?spec\\.ts$',
  transform: {},
  globalSetup: '<rootDir>/test/support/build-sources.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/bound-tests.ts'],
  // much of the time is spent waiting for timeouts: three side by side keep two cores busy, and leave room for what is measured
  maxWorkers: 3,
};
