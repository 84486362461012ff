// The runtime's limit: node:http writing ready-made answers, the gateway's own bytes and headers, with nothing decided.
// argv: port, file of answers ({ path: { status, headers, body (base64) } }), "log" for one pino line a request as the
// gateway writes it.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pino, stdTimeFunctions } from 'pino';

const [port, file, log] = process.argv.slice(2);
const answers = new Map(
  Object.entries(JSON.parse(readFileSync(file, 'utf8'))).map(([path, { status, headers, body }]) => [
    path,
    { status, headers, body: body ? Buffer.from(body, 'base64') : undefined },
  ]),
);

const logger =
  log === 'log'
    ? pino(
        {
          base: null,
          timestamp: stdTimeFunctions.isoTime,
          formatters: { level: (label) => ({ level: label }) },
        },
        pino.destination({ dest: 1, sync: false }),
      )
    : null;

const server = createServer((request, response) => {
  const startedAt = performance.now();
  const { status, headers, body } = answers.get(request.url) ?? { status: 404, headers: [] };
  response.writeHead(status, headers);
  response.end(body);
  if (logger) {
    response.on('finish', () =>
      logger.info(
        {
          event: 'request',
          requestId: '0a000000-0000-4000-8000-000000000000',
          method: request.method,
          route: '/api/v1/accounts',
          status,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          cache: 'hit',
          client: request.socket.remoteAddress,
        },
        'request',
      ),
    );
  }
});
server.keepAliveTimeout = 65_000;
server.listen(Number(port), '127.0.0.1');
