/** `npm run simulate -- --seed 7`: a month of a live bank in some seconds, without network. `--json` prints everything. */
import { parseArgs } from 'node:util';
import { playMonth } from './play-month.js';
import { toAlertTable, toDayTable, toSummary } from './report.js';

const { seed, json } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, json: { type: 'boolean', default: false } },
}).values;
const month = await playMonth(Number(seed));
const summary = toSummary(month);
const alerts = toAlertTable(month);
const text = `Seed ${seed}: minutes and calls by day\n\n${toDayTable(month)}\n\n${summary}\n\n${alerts}\n`;
process.stdout.write(json ? JSON.stringify({ ...month, summary, alertTable: alerts }) : text);
