import { randomUUID } from 'node:crypto';
import type { AuthorizedCall } from '../auth/authorized-call.js';
import { pino } from 'pino';
import { AccountReader } from '../bank/account-reader.js';
import { BankDrift } from '../bank/bank-drift.js';
import type { Drift } from '../bank/find-drift.js';
import { PageReader } from '../bank/page-reader.js';
import { PageSource } from '../bank/page-source.js';
import type { AccountList } from '../bank/paging.js';
import type { Clock } from '../time/clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { Findings } from './walk.js';

/** The drift found in the list, and the failure if the list cannot be read. */
interface Listed {
  readonly drift: readonly Drift[];
  readonly failure: GatewayError | null;
}

/** Reads the whole list as the gateway does; an answer that cannot be read is left to the step after. */
export async function checkAccounts(
  call: AuthorizedCall,
  clock: Clock,
  settings: Settings,
  findings: Findings,
): Promise<Listed> {
  const { SNAPSHOT_READ_TIMEOUT_MS: readTimeoutMs } = settings;
  const signal = AbortSignal.timeout(readTimeoutMs);
  const requestId = randomUUID();
  findings.facts['requestId'] = requestId;
  const drift = new BankDrift({ logger: pino({ level: 'silent' }) });
  const list = new AccountReader(new PageSource(call, clock), drift, settings).begin(requestId, signal);
  let answered = false;
  try {
    let pages = new PageReader();
    for await (const page of list.pages()) {
      answered = true;
      if (page.number === 1) pages = new PageReader();
      list.took(pages.read(page.number, Buffer.concat(page.pieces), () => undefined));
    }
  } catch (thrown) {
    if (signal.aborted) {
      throw new GatewayError(
        'bank-timeout',
        `The account list was not complete within ${readTimeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`,
        { cause: thrown },
      );
    }
    const failure = toGatewayError(thrown);
    if (failure.code !== 'bank-response-invalid' || !answered) throw failure;
    return { drift: drift.found, failure };
  }
  judge(list.result, findings);
  return { drift: drift.found, failure: null };
}

function judge({ accounts, pages, complete }: AccountList, findings: Findings): void {
  Object.assign(findings.facts, { accounts, pages, complete });
  if (complete === false) {
    findings.warning = {
      problem: "Even after a second refresh, the list disagrees with the bank's own count, or has an account twice.",
      remedy:
        'Run the doctor again: the list may just have changed. If the problem persists, report the time and the number of accounts above to the bank.',
      owner: 'bank',
    };
  } else if (accounts === 0) {
    findings.warning = {
      problem: 'The list is empty.',
      remedy: 'If there should be accounts, ask the bank which ones are granted to this M2M user.',
      owner: 'bank',
    };
  }
}

/** Compares the accounts with the fields and values that the gateway knows. @throws GatewayError bank-response-invalid */
export async function checkShape({ drift, failure }: Listed, findings: Findings): Promise<void> {
  findings.facts['drift'] = drift;
  if (failure) throw failure;
  if (drift.length === 0) return;
  const unknown = drift.map(({ path, value }) => (value === undefined ? path : `${path} (${value})`));
  findings.warning = {
    problem: `The bank sends fields or values that the gateway does not know: ${unknown.join(', ')}.`,
    remedy:
      'Nothing is broken: the gateway omits new fields and passes new values on. Report them to the maintainers of the gateway.',
  };
}
