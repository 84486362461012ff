/**
 * `npm run simulate -- --seed 7`: simulates a month with a live bank in a few seconds, without a network. `--days 5`
 * simulates only the first days, `--json` prints all results, `--check` compares the tables with the README.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { playMonth } from './play-month.js';
import { toAlertTable, toSummary } from './report.js';

const { seed, days, json, check } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    days: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
}).values;
const month = await playMonth(Number(seed), Number(days));
const tables = `${toSummary(month)}\n\n${toAlertTable(month)}\n`;
process.stdout.write(json ? JSON.stringify(month) : tables);
if (check) {
  // prettier adds spaces and dashes
  const toRows = (markdown: string) => markdown.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-').split('\n');
  const documented = toRows(readFileSync(new URL('README.md', import.meta.url), 'utf8'));
  const missing = toRows(tables).filter((row) => !documented.includes(row));
  if (missing.length > 0) {
    process.stderr.write(`README.md lacks\n${missing.join('\n')}\n`);
    process.exitCode = 1;
  }
}
