import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { MessageEvent } from '@nestjs/common';
import type { RequestFields } from '../../logging/request-fields.js';
import { until } from '../../../test/support/until.js';
import { Audience } from './audience.js';
import { Listener } from './listener.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A listener on a real connection; its events are written as they are, without the framework. */
async function scene(lastEventId?: string) {
  const opened = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => opened.resolve(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answered = Promise.withResolvers<IncomingMessage>();
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, answered.resolve);
  request.on('error', () => undefined);
  ends.push(() => {
    request.destroy();
    server.close();
  });
  const response = await opened.promise;
  response.writeHead(200).flushHeaders();
  const events: MessageEvent[] = [];
  const subscriber = {
    next: (event: MessageEvent) => {
      events.push(event);
      response.write(`data: ${String(event.data ?? '')}\n\n`);
    },
    complete: () => void response.end(),
  };
  const fields: Pick<RequestFields, 'events'> = { events: 0 };
  const listener = new Listener({ audience: new Audience({}), lastEventId, subscriber, response, fields });
  return { listener, events, fields, response, incoming: await answered.promise };
}

const DIGEST = 'A'.repeat(43);

describe('a listener', () => {
  it('is told how soon to come back, once; and each event has an id that it may come back with', async () => {
    const { listener, events, fields } = await scene();
    listener.tell('state', '{}');
    listener.note(DIGEST);
    listener.keepAlive();
    listener.tell('state', '{"a":1}');
    expect(events).toEqual([
      { type: 'state', id: '', data: '{}', retry: 3000 },
      { id: DIGEST },
      { comment: '' },
      { type: 'state', id: DIGEST, data: '{"a":1}' },
    ]);
    expect(fields.events).toBe(2);
  });

  it.each([
    [DIGEST, DIGEST, DIGEST],
    [undefined, null, ''],
    ['', null, ''],
    ['x\ny', 'x\ny', ''],
    ['A'.repeat(44), 'A'.repeat(44), ''],
  ])('who comes with %j keeps that id only if it has the form of a digest', async (lastEventId, knows, id) => {
    const { listener, events } = await scene(lastEventId);
    expect(listener.knows).toBe(knows);
    listener.tell('state', '{}');
    expect(events[0]?.id).toBe(id);
  });

  it('who does not read is cut off before much more than 256 KB wait', async () => {
    const { listener, events, response, incoming } = await scene();
    incoming.pause();
    const data = 'x'.repeat(20_000);
    let most = 0;
    while (!response.destroyed && events.length < 2000) {
      most = Math.max(most, response.writableLength);
      listener.tell('snapshot', data);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(response.destroyed).toBe(true);
    expect(most).toBeGreaterThan(200_000);
    expect(most).toBeLessThan(280_000);
  });

  it('its twin: one that reads gets all, however much it is and however long it goes on', async () => {
    const { listener, response, incoming } = await scene();
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => (bytes += chunk.length));
    for (let round = 0; round < 30_000; round++) {
      listener.keepAlive();
      if (round % 100 === 0) listener.tell('snapshot', 'x'.repeat(90_000));
      if (round % 50 === 0) await until(() => response.writableLength === 0);
    }
    await until(() => bytes > 300 * 90_000);
    expect(response.destroyed).toBe(false);
  });

  it('has a last word; one that does not take it is cut off soon', async () => {
    const { listener, events, response, incoming } = await scene();
    listener.end();
    incoming.resume();
    await until(() => incoming.readableEnded);
    expect(events.map(({ type, data }) => [type, data])).toEqual([['stopping', '{}']]);
    const deaf = await scene();
    deaf.incoming.pause();
    while (deaf.response.writableLength === 0) {
      deaf.response.write('x'.repeat(100_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    deaf.listener.end();
    await until(() => deaf.response.destroyed, 1000);
    expect(response.writableFinished).toBe(true);
  });
});
