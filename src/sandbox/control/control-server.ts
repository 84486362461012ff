import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { checkPatch } from './control-patch.js';
import type { SandboxControl } from './sandbox-control.js';

const MAX_BODY_BYTES = 65_536;

interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

/**
 * Creates the server of the switches (docs/sandbox.md#its-switches), not yet listening: GET, PATCH and DELETE of
 * /control over plain HTTP. Rejects pages of other origins: Host must be an IP address, localhost or one of `names`, Origin
 * and Sec-Fetch-Site must not be cross-origin, and a PATCH must be application/json.
 */
export function createControlServer(control: SandboxControl, names: readonly string[]): Server {
  return createServer((request, response) => {
    reply(request, control, names).then(
      (answer) => send(response, answer),
      () => response.destroy(),
    );
  });
}

async function reply(request: IncomingMessage, control: SandboxControl, names: readonly string[]): Promise<Reply> {
  if (!isKnownHost(request.headers.host, names)) return failed(421, 'This Host is not served here.');
  if (isFromForeignPage(request)) return failed(403, 'A page of another origin made this call.');
  if (request.url?.split('?', 1)[0] !== '/control') return failed(404, 'The only path is /control.');
  switch (request.method) {
    case 'GET':
      return { status: 200, body: { ...control.state, requests: control.lastRequests } };
    case 'PATCH':
      return patch(request, control);
    case 'DELETE':
      control.reset();
      return { status: 200, body: control.state };
    default:
      return { ...failed(405, 'Use GET, PATCH or DELETE.'), headers: { allow: 'GET, PATCH, DELETE' } };
  }
}

async function patch(request: IncomingMessage, control: SandboxControl): Promise<Reply> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') return failed(415, 'Content-Type must be application/json.');
  const text = await readBody(request);
  if (text === null) return { ...failed(413, 'The body is too large.'), headers: { connection: 'close' } };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed(400, 'The body is not JSON.');
  }
  const result = checkPatch(value);
  if (!result.isValid) {
    const problems = result.problems.map(({ name, reason }) => `${name} ${reason}`);
    return { status: 400, body: { error: 'Nothing was changed.', problems, allowed: result.allowed } };
  }
  control.patch(result.patch);
  return { status: 200, body: control.state };
}

/** The body as a string; null if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isKnownHost(host: string | undefined, names: readonly string[]): boolean {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '');
  return name !== undefined && (isIP(name) !== 0 || name === 'localhost' || names.includes(name));
}

function isFromForeignPage({ headers: { origin, host, 'sec-fetch-site': site } }: IncomingMessage): boolean {
  if (origin !== undefined && origin !== `http://${host}`) return true;
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

function failed(status: number, error: string): Reply {
  return { status, body: { error } };
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(`${JSON.stringify(body, null, 2)}\n`);
}
