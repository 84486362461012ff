import { AuthorizedCall } from '../auth/authorized-call.js';
import { BankIdentity } from '../auth/bank-identity.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Clock } from '../clock.js';
import { createLogger } from '../logging/logging.js';
import type { Settings } from '../config/settings.js';
import { checkAccounts } from './check-accounts.js';
import { ConnectionCheck } from './check-connection.js';
import { checkDns } from './check-dns.js';
import { checkShape } from './check-shape.js';
import { rejectionRemedy } from './connection-failure.js';
import { toHosts } from './hosts.js';
import { StepFailed, toStepFailed } from './step-failed.js';
import type { Findings, Walk } from './walk.js';

export interface BankExamination {
  readonly walk: Walk;
  readonly settings: Settings;
  readonly material: IdentityMaterial;
  readonly clock: Clock;
}

/** The steps that leave this machine. */
export async function examineBank({ walk, settings, material, clock }: BankExamination): Promise<void> {
  const { bank, egress } = settings;
  const { thumbprint } = material.certificate;
  const logged: LoggedLine[] = [];
  const identity = new BankIdentity({
    material,
    bank,
    egress,
    clock,
    // what the rooms would log goes into the report
    logger: createLogger({
      level: 'warn',
      pretty: false,
      destination: { write: (line) => void logged.push(JSON.parse(line) as LoggedLine) },
    }),
    condition: { failed: () => undefined, succeeded: () => undefined },
    oneAtATime: (work) => work(),
  });
  const hosts = toHosts(bank, egress);
  const connection = new ConnectionCheck({ egress: identity.egress, hosts, settings: egress, thumbprint });
  const call = new AuthorizedCall({ current: identity }, bank);
  try {
    await walk.step('dns', (findings) => checkDns(hosts, egress.connectTimeoutMs, findings));
    await walk.step('route', (findings) => connection.checkRoute(findings));
    await walk.step('tls', (findings) => connection.checkTls(findings));
    await walk.step('token', (findings) =>
      blamingTls('token', thumbprint, () => checkToken(identity, logged, findings)),
    );
    const listed = await walk.step('accounts', (findings) =>
      blamingTls('accounts', thumbprint, () => checkAccounts(call, clock, settings, findings)),
    );
    if (listed) await walk.step('shape', (findings) => checkShape(listed, findings));
  } finally {
    identity.retire();
  }
}

type LoggedLine = { readonly event?: string; readonly msg?: string };

async function checkToken({ tokens }: BankIdentity, logged: readonly LoggedLine[], findings: Findings): Promise<void> {
  const { lifetimeMs } = await tokens.get();
  const lifetimeSeconds = lifetimeMs / 1000;
  findings.facts['lifetimeSeconds'] = lifetimeSeconds;
  findings.lines.push(`lives ${lifetimeSeconds} s`);
  const unknown = logged.find(({ event }) => event === 'token.lifetime-unknown');
  if (!unknown) return;
  findings.problem = `The bank does not say how long its token lives: ${unknown.msg}.`;
  findings.remedy = 'The gateway works, but asks for tokens more often; tell the bank that expires_in cannot be used.';
  findings.owner = 'bank';
}

/** A refusal of our certificate belongs to the TLS step, however late it came. */
async function blamingTls<T>(step: 'token' | 'accounts', thumbprint: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const failure = toStepFailed(thrown, step);
    if (failure.code !== 'certificate-rejected') throw failure;
    const { code, owner, problem } = failure;
    throw new StepFailed(code, owner, problem, rejectionRemedy(thumbprint), 'tls');
  }
}
