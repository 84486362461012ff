import { parseArgs } from 'node:util';
import prepare from '../support/build-sources.js';

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
if (!(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write('npm run soak -- [--seconds 60] [--seed 1]\n');
  process.exit(2);
}
process.stderr.write(`soak of ${seconds} s with seed ${seed}\n`);
await prepare();
// what it starts is looked for in what was just built
const { runSoak } = await import('./soak.js');
const report = await runSoak(seconds, seed);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const bad = report.lost.length + report.leaked.length + report.wrong.length;
process.stderr.write(bad === 0 ? 'nothing lost, nothing leaked, nothing wrong\n' : 'NOT as it should be: see above\n');
process.exit(bad === 0 ? 0 : 1);
