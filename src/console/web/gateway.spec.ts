import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type * as GatewayModule from './gateway.js';

let gateway: typeof GatewayModule;

beforeAll(async () => {
  Object.assign(globalThis, { location: new URL('http://127.0.0.1/') });
  gateway = await import('./gateway.js');
});
afterEach(() => void jest.restoreAllMocks());

/** The gateway answers like this. */
const answers = (respond: typeof fetch) => jest.spyOn(globalThis, 'fetch').mockImplementation(respond);
const never: typeof fetch = (_input, init) =>
  new Promise((_resolve, reject) =>
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
  );

describe('a call of the page', () => {
  it('that is not answered is told as a gateway that cannot be reached', async () => {
    const { timeout } = AbortSignal;
    const deadlines: number[] = [];
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      deadlines.push(ms);
      return timeout.call(AbortSignal, 10);
    });
    answers(never);
    const { signal } = new AbortController();
    for (const call of [() => gateway.readHealth(signal), () => gateway.readRecent(signal), gateway.resetSwitches])
      await expect(call()).rejects.toMatchObject({ name: 'GatewayProblem', code: 'network-error', status: 0 });
    expect(deadlines).toEqual([8000, 20_000, 20_000]);
  });

  it('its twin: one that is given up by the page is no problem', async () => {
    answers(never);
    const controller = new AbortController();
    const call = gateway.readHealth(controller.signal);
    controller.abort(new Error('another view'));
    await expect(call).rejects.toThrow('another view');
  });

  it.each([
    ['a page', '<h1>Busy</h1>', 502],
    ['null', 'null', 502],
    ['a problem document', '{"code":"overloaded","owner":"operator","detail":"full"}', 503],
  ])('refused with %s is a problem', async (_what, body, status) => {
    answers(async () => new Response(body, { status }));
    await expect(gateway.readRecent(new AbortController().signal)).rejects.toBeInstanceOf(gateway.GatewayProblem);
  });

  it('its twin: health that is not ready is health', async () => {
    answers(async () => new Response('{"status":"error","details":{}}', { status: 503 }));
    await expect(gateway.readHealth(new AbortController().signal)).resolves.toMatchObject({ status: 'error' });
  });
});
