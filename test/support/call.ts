import { request, type IncomingHttpHeaders } from 'node:http';
import { request as requestSecurely, type RequestOptions } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. Throws if it is not JSON. */
  readonly json: any; // eslint-disable-line typescript/no-explicit-any -- tests read any property
}

/** Sends one request, by default a GET, on a new connection. */
export function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return call(url, { headers, method });
}

/** Sends one HTTP or HTTPS request, on a new connection unless an agent is given. */
export function call(url: string, { body, ...options }: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const send = url.startsWith('https:') ? requestSecurely : request;
  send(url, { agent: false, ...options })
    .on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((bytes) => resolve(toAnswer(status, headers, bytes.toString('utf8'))), reject);
    })
    .on('error', reject)
    .end(body);
  return promise;
}

export const toAnswer = (status: number, headers: IncomingHttpHeaders, text: string): Answer => ({
  status,
  headers,
  text,
  get json() {
    return JSON.parse(text) as unknown;
  },
});
