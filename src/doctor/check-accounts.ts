import { randomUUID } from 'node:crypto';
import type { AuthorizedCall } from '../auth/authorized-call.js';
import { AccountReader, type AccountList } from '../bank/account-reader.js';
import { describeShape } from '../bank/describe-shape.js';
import { PageReader } from '../bank/page-reader.js';
import { PageSource } from '../bank/page-source.js';
import type { Clock } from '../time/clock.js';
import { bodyOf, toText } from '../egress/answer.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../config/settings.js';
import type { Findings } from './walk.js';

/** What the bank gave: the text of its first page, and why the list cannot be read, if it cannot. */
interface Listed {
  readonly text: string;
  readonly failure: GatewayError | null;
}

/** Reads the whole list as the gateway does; an answer that cannot be read is the matter of the step after. */
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
  let text: string | null = null;
  let list: AccountList;
  try {
    const reader = new AccountReader(new PageSource(call, clock), {
      pageSize: settings.BANK_PAGE_SIZE,
      maxConcurrentRequests: settings.BANK_MAX_CONCURRENT_REQUESTS,
    });
    list = await reader.readAll(requestId, signal, () => {
      const pages = new PageReader();
      return async (pageNumber, pieces) => {
        const body = bodyOf({ pieces });
        if (pageNumber === 1) text = toText(body, 'the account list');
        return pages.read(pageNumber, body, () => undefined);
      };
    });
  } catch (thrown) {
    if (signal.aborted) {
      throw new GatewayError(
        'bank-timeout',
        `The account list was not complete within ${readTimeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`,
        { cause: thrown },
      );
    }
    const failure = toGatewayError(thrown);
    if (failure.code !== 'bank-response-invalid' || text === null) throw failure;
    findings.lines.push('an answer came');
    return { text, failure };
  }
  judge(list, findings);
  return { text: text ?? '[]', failure: null };
}

function judge({ accounts, pages, complete }: AccountList, findings: Findings): void {
  Object.assign(findings.facts, { accounts, pages, complete });
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  const known = complete === null ? ', no count by the bank to check by' : complete ? ', complete' : ', not complete';
  findings.lines.push(`${count(accounts, 'account')} on ${count(pages, 'page')}${known}`);
  if (complete === false) {
    findings.problem =
      "The list does not agree with the bank's own count, or has an account twice, after a second reading.";
    findings.remedy =
      'Run the doctor again: the list may just have changed. If it stays, report the time and the number of accounts above to the bank.';
    findings.owner = 'bank';
  } else if (accounts === 0) {
    findings.problem = 'The list is empty.';
    findings.remedy = 'If there should be accounts, ask the bank which ones are granted to this M2M user.';
    findings.owner = 'bank';
  }
}

/** Compares the bank's answer with what the gateway knows of it. @throws GatewayError bank-response-invalid */
export async function checkShape({ text, failure }: Listed, findings: Findings): Promise<void> {
  const shape = describeShape(text);
  const { list, drift, missingFields } = shape;
  Object.assign(findings.facts, shape);
  findings.lines.push(`the accounts stand in ${list}`);
  if (missingFields.length > 0) findings.lines.push(`not sent: ${missingFields.join(', ')}`);
  // on a later page than the one described
  if (failure) throw failure;
  if (drift.length === 0) return;
  const told = drift.map(({ path, type, value }) => `${path} (${value ?? type})`);
  findings.problem = `The bank sends what the gateway does not know: ${told.join(', ')}.`;
  findings.remedy =
    'Nothing is broken; new fields are left out of the answers, new words are passed on. Tell those who maintain the gateway.';
}
