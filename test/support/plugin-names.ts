// Jest's setupFiles. Fastify looks for the name of each plugin among all modules that are loaded, by `require.cache`, which is
// slow under Jest: a sixth of the time of tests that start the app often. A function that has a name is not looked for.
const DISPLAY_NAME = Symbol.for('fastify.display-name');

// eslint-disable-next-line eslint/no-extend-native -- of the tests' own realm alone
Object.defineProperty(Function.prototype, DISPLAY_NAME, {
  configurable: true,
  get(this: Function) {
    return this.name || 'without a name';
  },
  set(this: Function, value: unknown) {
    Object.defineProperty(this, DISPLAY_NAME, { value, configurable: true, writable: true });
  },
});
