import { pino } from 'pino';
import type { SecretSource } from '../config/secret-source.js';
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
  const { RedisConnection, RedisFailure } = await import('../sharing/redis-connection.js');
  const connection = new RedisConnection({ ...settings, REDIS_URL: redisUrl }, pino({ level: 'silent' }));
  try {
    await connection.connect();
    await connection.probe();
  } catch (error) {
    if (!(error instanceof RedisFailure)) throw error;
    const { owner, remedy } = PROBLEMS['sharing-unavailable'];
    throw new StepFailed('sharing-unavailable', owner, `Redis at ${server} cannot be used (${error.reason}).`, remedy);
  } finally {
    connection.close();
  }
}
