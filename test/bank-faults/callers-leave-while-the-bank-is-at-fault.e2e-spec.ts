import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, startPretendBank, type Handler } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

const CALLERS = 1000;
const AT_ONCE = 50;

const WAYS: Handler[] = [
  () => undefined,
  (_request, response) => json(response, 503, {}),
  ({ socket }) => socket.destroy(),
  (_request, response) => void response.end('{"result":['),
  (_request, response) => json(response, 401, {}),
];

describe('callers leave while the bank is at fault', () => {
  it(`${CALLERS} of them, in the middle of faults that change: nothing is left, and who stays is answered`, async () => {
    const bank = await startPretendBank();
    repair(bank);
    const clock = new MovedClock();
    const env = { BANK_REQUEST_TIMEOUT_MS: '200', REQUEST_DEADLINE_MS: '1000', SNAPSHOT_FRESH_MS: '0' };
    const gateway = await startGateway(bank, env, clock);
    const answers = [await askInTime(gateway)];
    const leave = async (index: number) => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      const ended = new Promise((resolve) => socket.once('close', resolve));
      const request = `GET /api/v1/accounts?pageSize=${index + 1} HTTP/1.1\r\nHost: localhost\r\nCache-Control: no-cache\r\n\r\n`;
      await new Promise((resolve) => socket.write(request, resolve));
      if (index % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
      await ended;
    };
    for (let from = 0; from < CALLERS; from += AT_ONCE) {
      bank.onAccounts = WAYS[(from / AT_ONCE) % WAYS.length] as Handler;
      clock.advance(LONGEST_WAIT_MS);
      const stays = askInTime(gateway);
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => leave(from + index)));
      answers.push(await stays);
    }
    // which of them depends on how busy the machine is
    const codes = ['bank-timeout', 'bank-error', 'bank-unreachable', 'bank-response-invalid', 'bank-refused'];
    for (const { json: problem } of answers.slice(1)) expect(codes).toContain(problem.code);
    expect(bank.most.token).toBe(1);

    repair(bank);
    clock.advance(LONGEST_WAIT_MS);
    await until(async () => (await askInTime(gateway)).status === 200);
    expect(gateway.events('request').filter(({ status }) => status === 499).length).toBeGreaterThan(CALLERS / 20);
    await expectCommonConditions(bank, gateway, answers);
  });
});
