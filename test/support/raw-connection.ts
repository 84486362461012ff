import { connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { problemSchema } from '../../src/problems/problem-document.js';
import { PROBLEMS } from '../../src/problems/problem-table.js';

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Heard {
  readonly answers: readonly RawAnswer[];
  /** What came after the last whole answer. */
  readonly rest: Buffer;
  /** How it ended: by the gateway's end, a reset, or by our own patience. */
  readonly end: 'closed' | 'reset' | 'open';
}

interface SendOptions {
  /** How long to listen, when the gateway does not close. */
  readonly waitMs?: number;
  /** Stop listening after so many answers. */
  readonly enough?: number;
  readonly tls?: ConnectionOptions;
  /** The answers are to HEAD: headers only. */
  readonly head?: boolean;
}

/** Sends bytes just as they are on a connection of their own, and hears whatever comes back. */
export async function sendRaw(port: number, bytes: string | Buffer, options: SendOptions = {}): Promise<Heard> {
  const { waitMs = 4000, enough = 1, tls, head = false } = options;
  const { promise, resolve } = Promise.withResolvers<Heard['end']>();
  const chunks: Buffer[] = [];
  const socket: Socket = tls
    ? connectTls({ port, host: '127.0.0.1', ...tls })
    : connect({ port, host: '127.0.0.1', noDelay: true });
  socket.once(tls ? 'secureConnect' : 'connect', () => {
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

/** Takes apart what came over a connection. */
export function parseAnswers(bytes: Buffer, head = false): Pick<Heard, 'answers' | 'rest'> {
  const answers: RawAnswer[] = [];
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
    answers.push({ status, headers, body: rest.subarray(end + 4, end + 4 + length) });
    rest = rest.subarray(end + 4 + length);
  }
}

/**
 * Says what is undocumented about an answer, else null: each has an id and the security headers; an error is a whole
 * problem document that agrees with itself, and never a fault of the gateway.
 */
export function faultOf({ status, headers, body }: RawAnswer, head = false): string | null {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(headers['x-request-id'] ?? '')) return 'no request id';
  if (headers['x-content-type-options'] !== 'nosniff') return 'no security headers';
  if (status < 400 || head) return status === 500 ? 'a fault of the gateway' : null;
  if (headers['content-type'] !== 'application/problem+json; charset=utf-8')
    return `content-type ${headers['content-type']}`;
  const read = problemSchema.strict().safeParse(JSON.parse(body.toString('utf8')));
  if (!read.success) return read.error.message;
  const problem = read.data;
  if (problem.code === 'internal-error') return 'a fault of the gateway';
  if (problem.status !== status) return 'another status in the body';
  if (problem.requestId !== headers['x-request-id']) return 'another id in the body';
  const several = problem.code === 'request-too-large' ? [413, 414, 431] : [PROBLEMS[problem.code].status as number];
  if (!several.includes(status)) return `status ${status} for ${problem.code}`;
  if (status === 503 && headers['retry-after'] === undefined) return 'no Retry-After';
  return null;
}

export function codeOf({ body }: RawAnswer): string | undefined {
  return body.length === 0 ? undefined : (JSON.parse(body.toString('utf8')) as { code?: string }).code;
}
