import type { IncomingMessage } from 'node:http';
import { json, type Handler } from './pretend-bank.js';
import { PLANTED } from './sample-accounts.js';

/** A status whose body quotes secrets and account data, which must not be passed on. */
export const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (request, response) =>
    json(response, code, { ...quoted(request), iban: PLANTED.iban }, { ...QUOTING_HEADERS, ...headers });

/** Secrets and account data where the bank's own code and trace id are read. */
export const quoted = ({ headers: { authorization = '' } }: Pick<IncomingMessage, 'headers'>) => ({
  detail: PLANTED.text,
  code: PLANTED.iban,
  traceId: authorization.split(' ')[1],
  errors: [{ errorCode: PLANTED.text, code: authorization, traceId: PLANTED.iban }],
});
export const QUOTING_HEADERS = { 'x-request-id': PLANTED.iban, 'x-correlation-id': PLANTED.iban.toLowerCase() };

/** A 200 with this body; JSON, unless a header differs. */
export const body =
  (text: string | Buffer, headers: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(text);
  };

/** Sends these bytes instead of a response, one write each, and closes the connection. */
export const raw =
  (...parts: string[]): Handler =>
  ({ socket }) => {
    for (const part of parts) socket.write(part);
    socket.end();
  };
