// The runtime's limit: node:http writing ready-made answers, the gateway's own bytes and headers, with nothing decided but a
// new request id for each. argv: port, file of answers (see ready.mjs).
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createLineWriter, readAnswers } from './ready.mjs';

const [port, file] = process.argv.slice(2);
const { keepAliveMs, answers } = readAnswers(file);
const ready = new Map([...answers].map(([path, answer]) => [path, { ...answer, headers: answer.headers.flat() }]));
const writeLine = createLineWriter();

const server = createServer((request, response) => {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const answer = ready.get(request.url);
  if (!answer) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(answer.status, [...answer.headers, 'x-request-id', requestId]);
  response.end(answer.body);
  response.on('finish', () => writeLine(answer.line, requestId, performance.now() - startedAt));
});
server.keepAliveTimeout = keepAliveMs;
server.listen(Number(port), '127.0.0.1');
