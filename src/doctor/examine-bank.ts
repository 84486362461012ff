import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AuthorizedCall } from '../auth/authorized-call.js';
import { BankIdentity } from '../auth/bank-identity.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { AccountReader, type AccountList } from '../bank/account-reader.js';
import { describeShape } from '../bank/describe-shape.js';
import { PageSource } from '../bank/page-source.js';
import { readPage } from '../bank/read-page.js';
import type { Clock } from '../clock.js';
import { GatewayError, toGatewayError } from '../problems/gateway-error.js';
import type { Settings } from '../settings/settings.js';
import { checkDns } from './check-dns.js';
import { ConnectionCheck } from './check-connection.js';
import { StepFailed, toStepFailed } from './step-failed.js';
import { toHosts } from './hosts.js';
import type { Walk } from './walk.js';

export interface BankExamination {
  readonly walk: Walk;
  readonly settings: Settings;
  readonly material: IdentityMaterial;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The steps that leave this machine. */
export async function examineBank({ walk, settings, material, clock, logger }: BankExamination): Promise<void> {
  const { bank, egress, snapshot } = settings;
  const identity = new BankIdentity({
    material,
    bank,
    egress,
    clock,
    logger,
    condition: { failed: () => undefined, succeeded: () => undefined },
    oneAtATime: (work) => work(),
  });
  const hosts = toHosts(bank);
  const connection = new ConnectionCheck(identity.egress, hosts, material.certificate.thumbprint);
  const source = new PageSource(new AuthorizedCall({ current: identity }, bank), clock);
  try {
    await walk.step('dns', ({ facts }) => checkDns(egress, hosts, facts));
    await walk.step('route', ({ facts }) => connection.checkRoute(egress, facts));
    await walk.step('tls', ({ facts }) => connection.checkTls(facts));
    await walk.step('token', async ({ facts }) => {
      const token = await blamingTls(() => identity.tokens.get());
      facts['lifetimeSeconds'] = token.lifetimeMs / 1000;
    });
    const listed = await walk.step('accounts', ({ facts }) => blamingTls(() => readAccounts(source, settings, facts)));
    if (listed) {
      await walk.step('shape', async (findings) => {
        const shape = describeShape(readPage(listed.text, 1));
        Object.assign(findings.facts, shape);
        if (listed.failure) throw listed.failure;
        if (shape.unknownFields.length > 0) {
          findings.problem = `The bank sends fields that the gateway does not know: ${shape.unknownFields.join(', ')}.`;
          findings.remedy = 'Nothing is broken; they are left out of the answers.';
        }
      });
    }
  } finally {
    identity.retire();
  }

  async function readAccounts(
    from: PageSource,
    { egress: { maxConcurrentRequests } }: Settings,
    facts: Record<string, unknown>,
  ) {
    const signal = AbortSignal.timeout(snapshot.readTimeoutMs);
    const asked = await from.ask({ pageNumber: 1, pageSize: snapshot.pageSize, readingId: randomUUID(), signal });
    const reader = new AccountReader(from, { pageSize: snapshot.pageSize, maxConcurrentRequests });
    let list: AccountList;
    try {
      list = await reader.readAll(randomUUID(), signal);
    } catch (thrown) {
      const failure = signal.aborted
        ? new GatewayError(
            'bank-timeout',
            `The bank gave no complete list within ${snapshot.readTimeoutMs} ms (SNAPSHOT_READ_TIMEOUT_MS).`,
          )
        : toGatewayError(thrown);
      // the list is there, and how it is made is the next step's matter
      if (failure.code === 'bank-response-invalid' && asked.kind === 'answer') return { text: asked.text, failure };
      throw failure;
    }
    Object.assign(facts, { accounts: list.accounts.length, pages: list.pages, complete: list.complete });
    return { text: asked.kind === 'answer' ? asked.text : '{"result":[]}', failure: null };
  }
}

/** A refusal of our certificate belongs to the TLS step, however late it came. */
async function blamingTls<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const failure = toStepFailed(thrown);
    if (failure.code !== 'certificate-rejected') throw failure;
    const { code, owner, problem, remedy } = failure;
    throw new StepFailed(code, owner, problem, remedy, 'tls');
  }
}
