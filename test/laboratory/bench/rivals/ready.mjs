// What the ready-made rivals share: answers and log lines as they were taken from the gateway, and pino set to gather lines
// as the gateway does.
import { readFileSync } from 'node:fs';
import { pino, stdTimeFunctions } from 'pino';

/** Answers by path, each `{ status, headers: [name, value][], body, line }`; and for how long an idle connection is kept. */
export function readAnswers(file) {
  const { keepAliveMs, answers } = JSON.parse(readFileSync(file, 'utf8'));
  const ready = Object.entries(answers).map(([path, { body, ...answer }]) => [
    path,
    { ...answer, body: body === null ? undefined : Buffer.from(body, 'base64') },
  ]);
  return { keepAliveMs, answers: new Map(ready) };
}

/** Writes the line of an answer, with what differs from request to request. */
export function createLineWriter() {
  const logger = pino(
    { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ dest: 1, sync: false, minLength: 1 }),
  );
  return ({ fields, message }, requestId, ms) =>
    logger.info({ ...fields, requestId, ms: Math.round(ms * 10) / 10 }, message);
}
