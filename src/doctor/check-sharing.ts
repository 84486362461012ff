import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecretSource } from '../config/secret-source.js';
import type { Settings } from '../config/settings.js';
import { PROBLEMS } from '../problems/problem-table.js';
import { within, TIMED_OUT } from '../time/deadline.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

const TIMEOUT_MS = 3000;

/** Writes, reads and deletes one key with the prefix of the gateway, as a refresh does. @throws StepFailed sharing-unavailable */
export async function checkSharing(redisUrl: SecretSource, settings: Settings, findings: Findings): Promise<void> {
  const url = new URL(redisUrl.read().trim());
  const server = `${url.protocol}//${url.host}`;
  Object.assign(findings.facts, { server, keyPrefix: settings.REDIS_KEY_PREFIX });
  const outcome = await within(exchange(url, settings), TIMEOUT_MS).catch((error: unknown) => toReason(error));
  if (outcome === null) {
    findings.lines.push(`${server}: a key was written, read and deleted`);
    return;
  }
  const reason = outcome === TIMED_OUT ? `no answer within ${TIMEOUT_MS} ms` : outcome;
  const { owner, remedy } = PROBLEMS['sharing-unavailable'];
  throw new StepFailed('sharing-unavailable', owner, `Redis at ${server} cannot be used (${reason}).`, remedy);
}

async function exchange(url: URL, { REDIS_CA_FILE: ca, REDIS_KEY_PREFIX: prefix }: Settings): Promise<null> {
  // nobody without REDIS_URL needs it
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url: url.href,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: TIMEOUT_MS,
      reconnectStrategy: false,
      ...(ca !== undefined && { tls: true as const, ca: readFileSync(ca) }),
    },
  });
  // each failure also rejects the call that met it
  client.on('error', () => undefined);
  const key = `${prefix}doctor:${randomUUID()}`;
  try {
    await client.connect();
    await client.set(key, 'x', { expiration: { type: 'PX', value: 1000 }, condition: 'NX' });
    if ((await client.get(key)) !== 'x') throw new Error('another value was read');
    await client.del(key);
    return null;
  } finally {
    client.destroy();
  }
}

/** A code or the first word of the server's answer: the whole message may contain an address or a user. */
function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : (/^[A-Z]{2,20}\b/.exec(message)?.[0] ?? 'unknown');
}
