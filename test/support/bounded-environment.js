import { TestEnvironment } from 'jest-environment-node';

const FILE_LIMIT_MS = Number(process.env.TEST_FILE_LIMIT_MS ?? 300_000);

/** Jest's environment for Node, with a bound on the time of a whole test file: Jest bounds tests and hooks, but not loading. */
export default class BoundedEnvironment extends TestEnvironment {
  #timer;

  constructor(config, context) {
    super(config, context);
    this.#timer = setTimeout(() => {
      process.stderr.write(`${context.testPath} is not done within ${FILE_LIMIT_MS} ms\n`);
      process.kill(process.pid, 'SIGKILL');
    }, FILE_LIMIT_MS);
  }

  async teardown() {
    clearTimeout(this.#timer);
    await super.teardown();
  }
}
