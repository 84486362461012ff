import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeGateways, startGateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const MB = 1024 * 1024;
const MAX_UNREAD_BYTES = 64 * MB;
const PAGE = '/api/v1/accounts?pageSize=1000';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
});

describe('answers that are not read', () => {
  it('more than 64 MB of them on all connections: the largest that take nothing are ended at once, who reads is not', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = listSample(1000);
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000', SNAPSHOT_MAX_AGE_MS: '600000' });
    const answer = await gateway.get(PAGE);
    expect(answer.status).toBe(200);

    const served = new Set<Socket>();
    gateway.app.getHttpServer().on('connection', (socket: Socket) => {
      served.add(socket);
      socket.on('close', () => served.delete(socket));
    });
    const unread = () => [...served].reduce((sum, { writableLength }) => sum + writableLength, 0);
    const dial = () => connect({ port: gateway.port, host: '127.0.0.1' }).on('error', () => undefined);
    // what the system holds for each is no memory of the process
    const asked = `GET ${PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(30);
    const stalled = Array.from({ length: 200 }, () => dial().pause());
    const reader = dial();
    let read = 0;
    reader.on('data', (chunk: Buffer) => (read += chunk.length));
    await until(() => served.size === 201);
    for (const socket of [reader, ...stalled]) socket.write(asked);

    // before the 10 s that a single one is put up with
    // and no more of them than need be
    const isBounded = () => unread() <= MAX_UNREAD_BYTES && unread() > MAX_UNREAD_BYTES / 2;
    await until(() => served.size < 200 && isBounded(), 8000);
    await until(() => reader.closed || read > 30 * answer.text.length, 20_000);
    expect(reader.closed).toBe(false);
    reader.destroy();
    for (const socket of stalled) socket.destroy();
    await until(() => served.size === 0);
  });
});
