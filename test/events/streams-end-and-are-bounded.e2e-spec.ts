import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ChangeFeed } from '../../src/accounts/events/change-feed.js';
import { HttpEdge } from '../../src/http/http-edge.js';
import { bankForFile } from '../support/bank-for-file.js';
import { closeStreams, openStream } from '../support/event-stream.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { listAccounts } from '../support/pretend-bank.js';
import { sampleAccount, sampleAccounts } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
const sockets: Socket[] = [];
afterEach(() => {
  closeStreams();
  for (const socket of sockets.splice(0)) socket.destroy();
});

const start = (env: Record<string, string> = {}) => startGateway(bank, env);
const watch = (gateway: Gateway) => openStream(`${gateway.url}/api/v1/events`);
const streams = ({ app }: Gateway) => app.get(ChangeFeed).streams;
const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const STREAM = ask('/api/v1/events');

/** A connection of one's own, which is read as the test says. */
async function connected(gateway: Gateway) {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('utf8');
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const seen = {
    socket,
    closed: false,
    read: () => socket.on('data', (chunk: string) => (text += chunk)),
    text: () => text,
  };
  socket.once('close', () => (seen.closed = true));
  return seen;
}

describe('streams end', () => {
  it('two lines tell of each: one at its start, one at its end', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await openStream(`${gateway.url}/api/v1/events?q=nobody`, {
      'x-request-id': 'mine',
      'x-client-name': 'app',
    });
    await stream.event(0);
    const [line] = gateway.events('request').slice(1);
    expect(line).toMatchObject({
      requestId: 'mine',
      route: '/api/v1/events',
      status: 200,
      stream: true,
      clientName: 'app',
    });
    expect(gateway.lines.join()).not.toContain('nobody');
    expect([streams(gateway), gateway.events('stream.ended')]).toEqual([1, []]);
    stream.close();
    await until(() => gateway.events('stream.ended').length === 1);
    const [ended] = gateway.events('stream.ended');
    expect(ended).toMatchObject({ requestId: 'mine', events: 1, ms: expect.any(Number) });
    expect(gateway.events('request')).toHaveLength(2);
    expect(streams(gateway)).toBe(0);
  });

  it('at a stop with a last word, and without delay; then none is opened', async () => {
    const gateway = await start({ SHUTDOWN_GRACE_MS: '60000' });
    await gateway.get('/api/v1/accounts');
    const open = await Promise.all([watch(gateway), watch(gateway), watch(gateway)]);
    await Promise.all(open.map((stream) => stream.event(0)));
    const startedAt = performance.now();
    await gateway.close();
    expect(performance.now() - startedAt).toBeLessThan(3000);
    for (const stream of open) {
      expect(stream.events.map(({ type }) => type)).toEqual(['snapshot', 'stopping']);
      expect(stream.ended).toBe(true);
    }
    expect(gateway.events('stream.ended')).toMatchObject([{ events: 2 }, { events: 2 }, { events: 2 }]);
  });

  it('not before the drain: while SHUTDOWN_DELAY_MS lasts they go on', async () => {
    const gateway = await start({ SHUTDOWN_DELAY_MS: '2000', SNAPSHOT_FRESH_MS: '50' });
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    await stream.event(0);
    const closing = gateway.close();
    await until(() => gateway.app.get(HttpEdge).stopping);
    bank.onAccounts = listAccounts(sampleAccounts(5));
    const { type, data } = await stream.event(1);
    expect([type, data.accounts]).toEqual(['snapshot', 5]);
    const late = await watch(gateway);
    expect((await late.event(0)).type).toBe('snapshot');
    expect((await stream.event(2)).type).toBe('stopping');
    await closing;
  });

  it('a stop is not held up by one who does not read', async () => {
    const gateway = await start({ SHUTDOWN_GRACE_MS: '60000' });
    await gateway.get('/api/v1/accounts');
    const deaf = await connected(gateway);
    deaf.socket.pause();
    deaf.socket.write(STREAM);
    await until(() => streams(gateway) === 1);
    const startedAt = performance.now();
    await gateway.close();
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});

describe('streams are bounded', () => {
  it('one who does not read is ended, and others go on', async () => {
    let reading = 0;
    // each event names 1 000 accounts in 80 KB; the system takes some megabytes before a connection is full
    bank.onAccounts = (...args) => {
      reading += 1;
      const change = (index: number) => ({ accountId: `${index}`.padEnd(80, '-'), friendlyName: `${reading}` });
      listAccounts(Array.from({ length: 990 }, (_, index) => ({ ...sampleAccount(1), ...change(index) })))(...args);
    };
    const gateway = await start({ SNAPSHOT_FRESH_MS: '1' });
    const [deaf, stream] = [await connected(gateway), await watch(gateway)];
    deaf.socket.pause();
    deaf.socket.write(STREAM);
    await until(() => streams(gateway) === 2);
    await until(() => gateway.events('stream.ended').length === 1, 60_000);
    const told = stream.events.length;
    expect(told * 80_000).toBeLessThan(20_000_000);
    await stream.event(told + 1);
    expect(streams(gateway)).toBe(1);
  }, 90_000);

  it('requests behind a stream on its connection are given up, and hold up nobody', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const one = await connected(gateway);
    one.read();
    // in one piece with it, and later
    one.socket.write(STREAM + ask('/health/live').repeat(50));
    await until(() => one.text().includes('event: snapshot'));
    expect(gateway.events('request').filter(({ status }) => status === 499)).toHaveLength(50);
    one.socket.write(ask('/health/live').repeat(2000));
    const two = await connected(gateway);
    two.read();
    two.socket.write(STREAM);
    await until(() => two.text().includes('event: snapshot'));
    two.socket.write(ask('/health/live').repeat(2000));
    // others may still send several at once
    const three = await connected(gateway);
    three.read();
    three.socket.write(ask('/health/live').repeat(20));
    await until(() => three.text().split('HTTP/1.1 200').length === 21);
    expect(one.text().split('HTTP/1.1 200')).toHaveLength(2);
    one.socket.destroy();
    two.socket.end();
    await until(() => streams(gateway) === 0, 20_000);
    await until(() => gateway.events('stream.ended').length === 2);
  });

  it('a stream that is asked for behind another request begins when that is answered', async () => {
    const gateway = await start();
    const one = await connected(gateway);
    one.read();
    one.socket.write(ask('/api/v1/accounts?pageSize=1') + STREAM);
    await until(() => one.text().includes('event: snapshot'));
    expect(gateway.events('request').map(({ route }) => route)).toEqual(['/api/v1/accounts', '/api/v1/events']);
  });
});
