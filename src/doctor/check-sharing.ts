import { pino } from 'pino';
import type { SecretSource } from '../config/kinds.js';
import type { Settings } from '../config/settings.js';
import { PROBLEMS } from '../problems/problem-table.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** Connects to Redis and sends each kind of command that sharing uses. @throws StepFailed sharing-unavailable */
export async function checkSharing(redisUrl: SecretSource, settings: Settings, findings: Findings): Promise<void> {
  const { protocol, host } = new URL(redisUrl.read().trim());
  const server = `${protocol}//${host}`;
  Object.assign(findings.facts, { server, keyPrefix: settings.REDIS_KEY_PREFIX });
  // nobody without REDIS_URL needs the client
  const { RedisConnection } = await import('../sharing/redis-connection.js');
  const connection = new RedisConnection({ ...settings, REDIS_URL: redisUrl }, pino({ level: 'silent' }));
  await connection.connect();
  connection.close();
  if (connection.trouble !== null) {
    const { owner, remedy } = PROBLEMS['sharing-unavailable'];
    const problem = `Redis at ${server} cannot be used (${connection.trouble}).`;
    throw new StepFailed('sharing-unavailable', owner, problem, remedy);
  }
}
