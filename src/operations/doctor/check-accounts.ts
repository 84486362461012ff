import { randomUUID } from 'node:crypto';
import type { AuthorizedCall } from '../../auth/authorized-call.js';
import { AccountReader } from '../../bank/account-reader.js';
import { MAX_SHOWN } from '../../bank/bank-drift.js';
import type { Drift } from '../../list/list-drift.js';
import { ListService } from '../../list/list-service.js';
import type { ListOutcome } from '../../bank/paging.js';
import type { Settings } from '../../config/settings.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { Log } from '../../telemetry/log.js';
import { problemOf, type Findings } from './steps.js';

/** The drift in the list, or why it cannot be read. */
interface Listed {
  readonly drift: readonly Drift[];
  /** Number of pages; 0 if they could not be read. */
  readonly pages: number;
  readonly unreadable?: unknown;
}

/** Reads the whole list as the gateway does. The next step reports an unreadable response. */
export async function checkAccounts(call: AuthorizedCall, settings: Settings, findings: Findings): Promise<Listed> {
  const { SNAPSHOT_READ_TIMEOUT_MS: timeoutMs } = settings;
  const deadline = AbortSignal.timeout(timeoutMs);
  const requestId = randomUUID();
  findings.facts['requestId'] = requestId;
  const log = new Log({ level: 'silent', pretty: false, destination: process.stdout });
  const reader = new AccountReader(call, settings, log);
  const list = new ListService();
  let unreadable: unknown;
  let outcome: ListOutcome;
  try {
    outcome = await reader.read(requestId, deadline, async (number, body) => {
      try {
        return list.takePage(number, body);
      } catch (error) {
        unreadable = error;
        throw error;
      }
    });
  } catch (error) {
    if (unreadable !== undefined) return { drift: [], pages: 0, unreadable };
    if (!deadline.aborted) throw error;
    const late = `The account list was not complete within ${timeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`;
    throw new GatewayError('bank-timeout', late);
  }
  const { accounts, pages, complete } = outcome;
  Object.assign(findings.facts, { accounts, pages, complete });
  if (accounts === 0) {
    findings.warning = problemOf('accounts-emptied', 'The bank lists no accounts.');
  } else if (complete === false) {
    findings.warning = {
      owner: 'bank',
      problem: 'The list disagrees with its own count, or has an account twice.',
      remedy: 'Run the doctor again. If it persists, ask the bank which accounts are granted to this M2M user.',
    };
  }
  return { drift: list.finish().fields.drift.slice(0, MAX_SHOWN), pages };
}

/** Reports the drift in the list. @throws why the list is unreadable */
export async function checkShape({ drift, unreadable }: Listed, findings: Findings): Promise<void> {
  findings.facts['drift'] = drift;
  if (unreadable !== undefined) throw unreadable;
  if (drift.length > 0) {
    findings.warning = {
      problem: 'The bank sends unknown fields or values.',
      remedy: 'Nothing is broken: new fields are left out, and new values passed on. Report them to the maintainers.',
    };
  }
}
