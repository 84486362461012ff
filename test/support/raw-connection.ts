import { connect, type Socket } from 'node:net';
import { toAnswer, type Answer } from './call.js';

interface Heard {
  readonly answers: readonly Answer[];
  /** The bytes after the last complete response. */
  readonly rest: Buffer;
  /** How it ended: closed or reset by the gateway, or still open when we stopped listening. */
  readonly end: 'closed' | 'reset' | 'open';
}

interface SendOptions {
  /** Time to listen if the gateway does not close, ms. */
  readonly waitMs?: number;
  /** Number of responses after which to stop listening. */
  readonly enough?: number;
  /** The responses are to HEAD: headers only. */
  readonly head?: boolean;
}

/** Sends raw bytes on a new connection, and returns everything received. */
export async function sendRaw(port: number, bytes: string | Buffer, options: SendOptions = {}): Promise<Heard> {
  const { waitMs = 30_000, enough = 1, head = false } = options;
  const { promise, resolve } = Promise.withResolvers<Heard['end']>();
  const chunks: Buffer[] = [];
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (parseAnswers(Buffer.concat(chunks), head).answers.length >= enough) resolve('open');
  });
  socket.once('end', () => resolve('closed'));
  socket.once('error', () => resolve('reset'));
  const timer = setTimeout(resolve, waitMs, 'open');
  const end = await promise;
  clearTimeout(timer);
  socket.destroy();
  return { ...parseAnswers(Buffer.concat(chunks), head), end };
}

/** The first response to these bytes. @throws Error without one */
export async function rawCall(port: number, text: string): Promise<Answer> {
  const { answers } = await sendRaw(port, text, { head: text.startsWith('HEAD ') });
  if (!answers[0]) throw new Error('closed without an answer');
  return answers[0];
}

/** A request with these header lines, `Connection: close`, and an allowed Host if they have none. */
export function rawRequest(line: string, headers: readonly string[] = []): string {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : ['Host: localhost'];
  return `${[line, ...host, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;
}

/** Parses the bytes received on a connection into responses. */
export function parseAnswers(bytes: Buffer, head = false): Pick<Heard, 'answers' | 'rest'> {
  const answers: Answer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { answers, rest };
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) return { answers, rest };
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      if (name in headers) throw new Error(`header twice: ${name}`);
      headers[name] = line.slice(colon + 1).trim();
    }
    const length = head || status === 204 || status === 304 ? 0 : Number(headers['content-length']);
    if (Number.isNaN(length)) throw new Error(`an answer of unknown length: ${statusLine}`);
    if (rest.length < end + 4 + length) return { answers, rest };
    const text = rest.subarray(end + 4, end + 4 + length).toString('utf8');
    answers.push(toAnswer(status, headers, text));
    rest = rest.subarray(end + 4 + length);
  }
}

export function codeOf({ text }: Answer): string | undefined {
  return text === '' ? undefined : (JSON.parse(text) as { code?: string }).code;
}
