import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../support/gateway.js';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const PATH = '/api/v1/accounts';
const get = (target: string, id: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`;

/** A gateway whose bank answers the list when told to. */
async function startHeldUp(): Promise<{ bank: PretendBank; gateway: Gateway; letGo: () => void }> {
  const bank = await startPretendBank();
  const good = listSample();
  const { promise, resolve } = Promise.withResolvers<void>();
  bank.onAccounts = (...args) => void promise.then(() => good(...args));
  return { bank, gateway: await startGateway(bank), letGo: resolve };
}

const statuses = (gateway: Gateway) =>
  gateway
    .events('request')
    .map(({ requestId, status }) => `${requestId} ${status}`)
    .sort();

async function send(gateway: Gateway, text: string): Promise<Socket> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.write(text, resolve));
  return socket;
}

describe('a caller who leaves before the answer is out', () => {
  it('has one line with 499 for each request, also for those behind another on the connection', async () => {
    const { bank, gateway, letGo } = await startHeldUp();
    const lists = () => bank.requests.filter(({ path }) => path.startsWith(PATH)).length;
    const requests = ['a', 'b', 'c'].map((id) => get(PATH, id)).join('') + get('/health/live', 'd');
    const socket = await send(gateway, requests);
    await until(() => lists() === 1);
    socket.resetAndDestroy();
    const left = ['a 499', 'b 499', 'c 499', 'd 499'];
    await until(() => gateway.events('request').length >= left.length);
    expect(statuses(gateway)).toEqual(left);
    // what is made for them after all changes nothing
    letGo();
    await until(() => gateway.events('snapshot.refreshed').length === 1);
    expect((await gateway.get('/health/live', { 'x-request-id': 'f' })).status).toBe(200);
    await until(() => gateway.events('request').length > left.length);
    expect(statuses(gateway)).toEqual([...left, 'f 200']);
  });

  it('gives back the place among those who wait for the bank, each one', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = () => undefined;
    const gateway = await startGateway(bank, { MAX_REQUESTS_WAITING: '3' });
    for (let round = 0; round < 5; round++) {
      const from = gateway.events('request').length;
      const socket = await send(gateway, ['a', 'b', 'c'].map((id) => get(PATH, id)).join(''));
      await until(() => bank.requests.some(({ path }) => path.startsWith(PATH)));
      socket.destroy();
      await until(() => gateway.events('request').length === from + 3);
    }
    expect(gateway.events('request').every(({ status, code }) => status === 499 && code === undefined)).toBe(true);
  });

  it('the twin: one who stays has the status of the answer', async () => {
    const { gateway, letGo } = await startHeldUp();
    const socket = await send(gateway, get(PATH, 'a') + get('/health/live', 'b') + get('/%zz', 'c'));
    socket.resume();
    letGo();
    await until(() => gateway.events('request').length === 3);
    expect(statuses(gateway)).toEqual(['a 200', 'b 200', 'c 400']);
    socket.destroy();
  });
});
