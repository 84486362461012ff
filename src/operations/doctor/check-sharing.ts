import { pino } from 'pino';
import type { RedisSettings } from '../../sharing/redis-connection.js';
import type { Clock } from '../../time/clock.js';
import { problemOf, StepFailed, type Findings } from './steps.js';

/** Connects to Redis and sends each kind of command that sharing uses. @throws StepFailed sharing-unavailable */
export async function checkSharing(settings: RedisSettings, clock: Clock, { facts }: Findings): Promise<void> {
  const { protocol, host } = new URL(settings.REDIS_URL.read().trim());
  const { REDIS_KEY_PREFIX: keyPrefix } = settings;
  Object.assign(facts, { server: `${protocol}//${host}`, keyPrefix });
  // the client is loaded only if REDIS_URL is set
  const { RedisConnection } = await import('../../sharing/redis-connection.js');
  const connection = new RedisConnection(settings, pino({ level: 'silent' }), clock);
  await connection.connect();
  connection.close();
  if (connection.trouble === null) return;
  throw new StepFailed(problemOf('sharing-unavailable', `Redis cannot be used: ${connection.trouble}.`));
}
