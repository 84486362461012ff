// Jest reporter that fails a run whose `-t` matches no test, unless a program is missing: Jest itself counts all tests as
// skipped and succeeds.
import { existsSync } from 'node:fs';

export default class FailWithoutTests {
  #namePattern;
  #error;

  /** @param {{ testNamePattern?: string }} globalConfig */
  constructor({ testNamePattern }) {
    this.#namePattern = testNamePattern;
  }

  /**
   * @param {unknown} _contexts
   * @param {{ numPassedTests: number, numFailedTests: number }} results
   */
  onRunComplete(_contexts, { numPassedTests, numFailedTests }) {
    const isProgramMissing = existsSync(process.env['TEST_MISSING'] ?? '');
    if (!this.#namePattern || isProgramMissing || numPassedTests + numFailedTests > 0) return;
    this.#error = new Error(`no test ran: no name matches -t ${JSON.stringify(this.#namePattern)}`);
    process.once('exit', () => process.stderr.write(`${this.#error.message}\n`));
  }

  getLastError() {
    return this.#error;
  }
}
