import { expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { scrape } from '../support/scrape.js';
import { until } from '../support/until.js';

it('log lines that nobody reads any more are counted, and none before', async () => {
  const bank = await startPretendBank();
  const program = await startProgram({ env: programEnvironment(bank), cwd: temporaryDirectory() });
  const url = await program.started();
  const gateway = { get: (path: string) => get(`${url}${path}`) };
  const lost = async () => (await scrape(gateway)).value('accounts_gateway_log_lines_dropped_total');
  expect(await lost()).toBe(0);
  program.child.stdout?.destroy();
  await until(async () => ((await lost()) ?? 0) > 2);
});
