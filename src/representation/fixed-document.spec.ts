import { createHook } from 'node:async_hooks';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onClose } from '../../test/support/closing.js';
import { FixedDocument } from './fixed-document.js';

const TEXT = 'a sentence that repeats itself. '.repeat(100);
const HTML = { 'content-type': 'text/html; charset=utf-8' };

/**
 * Counts the compressors that this process creates from here to the end of the test. Some may belong to an earlier
 * file.
 */
function countCompressors(): () => number {
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (count += Number(type === 'ZLIB')) }).enable();
  onClose(() => void hook.disable());
  return () => count;
}

async function ask(document: FixedDocument, encoding: string) {
  const sent: Record<string, string> = {};
  const reply = { headers: (headers: object) => Object.assign(sent, headers) } as unknown as FastifyReply;
  const request = { headers: { 'accept-encoding': encoding } } as unknown as FastifyRequest;
  return { body: await document.respond(request, reply), sent };
}

describe('a fixed document', () => {
  it('is compressed once for each encoding, at its first request', async () => {
    const compressors = countCompressors();
    const document = new FixedDocument(TEXT, HTML);
    expect((await ask(document, '')).body.toString()).toBe(TEXT);
    expect(compressors()).toBe(0);
    for (const [encoding, decompress] of [['gzip', gunzipSync] as const, ['br', brotliDecompressSync] as const]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(document, encoding)));
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      for (const { body, sent } of answers) {
        expect(sent).toEqual({ ...HTML, 'content-encoding': encoding });
        expect(decompress(body).toString()).toBe(TEXT);
      }
    }
  });

  it.each([
    ['is small', 'short', HTML],
    ['is a compressed format', TEXT, { 'content-type': 'image/png' }],
  ])('the negative case: is sent uncompressed if it %s', async (_what, text, headers) => {
    const { body, sent } = await ask(new FixedDocument(text, headers), 'gzip');
    expect([body.toString(), sent]).toEqual([text, headers]);
  });
});
