// Jest reporter of what tests lacked: one line at the end of the run, with the packages to install.
import { existsSync, readFileSync, rmSync } from 'node:fs';

export default class SkippedReporter {
  /**
   * @param {unknown} _contexts
   * @param {{ numPendingTests: number }} results
   */
  onRunComplete(_contexts, { numPendingTests }) {
    const file = process.env['TEST_MISSING'] ?? '';
    if (!existsSync(file)) return;
    const missing = [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))].toSorted();
    rmSync(file);
    const packages = missing.filter((name) => !name.includes(' ')).join(' ');
    const lacks = [
      ...missing.filter((name) => name.includes(' ')),
      ...(packages ? [`programs: apt-get install ${packages}`] : []),
    ];
    const line = `Skipped ${numPendingTests} tests for lack of ${lacks.join(', and of ')}\n`;
    // after the summary
    process.once('exit', () => process.stderr.write(line));
  }
}
