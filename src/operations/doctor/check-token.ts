import type { BankIdentity } from '../../auth/bank-identity.js';
import { isSkewed } from '../../egress/http-date.js';
import { problemOf, type Findings } from './steps.js';

/** Requests a token, and compares the clocks. @throws GatewayError as `AccessTokenProvider.get` */
export async function checkToken({ tokens, egress }: BankIdentity, findings: Findings): Promise<void> {
  const { lifetimeMs } = await tokens.get();
  findings.facts['lifetimeSeconds'] = lifetimeMs / 1000;
  const { clockSkewMs } = egress;
  if (clockSkewMs === null) return;
  const seconds = Math.round(clockSkewMs / 1000);
  findings.facts['clockSkewSeconds'] = seconds;
  if (!isSkewed(clockSkewMs)) return;
  const difference = `${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'}`;
  findings.warning = problemOf('clock-skewed', `The clock of this machine is ${difference} the bank's.`);
}
