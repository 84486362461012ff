import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Answer } from './gateway.js';

/** Sends these bytes as they are, and reads one answer until the other side closes; rejects when there is none. */
export function rawCall(port: number, text: string, host = '127.0.0.1'): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const chunks: Buffer[] = [];
  const socket = connect(port, host, () => socket.write(text, 'latin1'));
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    // a whole answer is enough: a connection that is kept alive would stay open
    if (isWhole(Buffer.concat(chunks))) socket.end();
  });
  socket.on('error', reject);
  socket.on('close', () => {
    const all = Buffer.concat(chunks);
    if (all.length === 0) reject(new Error('closed without an answer'));
    else resolve(toAnswer(all));
  });
  return promise;
}

/** A request with these header lines; an allowed Host when none is among them. */
export function rawRequest(line: string, headers: readonly string[] = []): string {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : ['Host: localhost'];
  return `${[line, ...host, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;
}

function split(all: Buffer): { head: string; body: Buffer } | null {
  const end = all.indexOf('\r\n\r\n');
  return end === -1 ? null : { head: all.subarray(0, end).toString('latin1'), body: all.subarray(end + 4) };
}

function isWhole(all: Buffer): boolean {
  const parts = split(all);
  if (!parts) return false;
  const length = /^content-length: (\d+)$/im.exec(parts.head)?.[1];
  if (length !== undefined) return parts.body.length >= Number(length);
  return (
    / (204|304) /.test(parts.head.split('\r\n', 1)[0] ?? '') || parts.body.toString('latin1').endsWith('0\r\n\r\n')
  );
}

function toAnswer(all: Buffer): Answer {
  const parts = split(all);
  if (!parts) throw new Error('not HTTP');
  const [statusLine = '', ...lines] = parts.head.split('\r\n');
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const text = parts.body.toString('utf8');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    get json() {
      return JSON.parse(text) as unknown;
    },
  };
}
