import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Answer } from './answer.js';

/** Headers that the runtime writes, or that would change the connection. */
const OF_THE_RUNTIME = new Set([
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'trailer',
]);

/** Sends a response with the other recorded headers (letter case is lost), and placeholders for masked values. */
export function sendRecorded(
  response: ServerResponse,
  { status, body }: Answer,
  recorded: Readonly<Record<string, string | null>>,
): void {
  const isGzip = recorded['content-encoding'] === 'gzip';
  const content = isGzip ? gzipSync(body) : Buffer.from(body);
  response.sendDate = 'date' in recorded;
  for (const [name, value] of Object.entries(recorded)) {
    if (OF_THE_RUNTIME.has(name) || (name === 'content-encoding' && !isGzip)) continue;
    response.setHeader(name, value ?? 'masked');
  }
  if (!('transfer-encoding' in recorded)) response.setHeader('content-length', content.length);
  response.writeHead(status).end(content);
}
