// Jest reporter of missing programs: one line at the end of the run, with the packages to install.
import { existsSync, readFileSync, rmSync } from 'node:fs';

export default class SkippedReporter {
  /**
   * @param {unknown} _contexts
   * @param {{ numPendingTests: number }} results
   */
  onRunComplete(_contexts, { numPendingTests }) {
    const file = process.env['TEST_MISSING'] ?? '';
    if (!existsSync(file)) return;
    const missing = new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean));
    rmSync(file);
    const without = missing.delete('IPv6') ? ['IPv6 on this machine'] : [];
    const packages = missing.size > 0 ? [`programs: apt-get install ${[...missing].toSorted().join(' ')}`] : [];
    const line = `Skipped ${numPendingTests} tests for lack of ${[...without, ...packages].join(', and of ')}\n`;
    // after the summary
    process.once('exit', () => process.stderr.write(line));
  }
}
