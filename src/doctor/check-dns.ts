import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { TIMED_OUT, within } from '../time/deadline.js';
import { failTogether, type BankHost } from './hosts.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/**
 * Resolves the names that this machine must resolve: the bank's hosts, or only the proxy's, because a proxy resolves the
 * bank's.
 */
export async function checkDns(hosts: readonly BankHost[], timeoutMs: number, { facts }: Findings): Promise<void> {
  const failures = await Promise.all(
    hosts.map(async ({ name, hostname, proxy, variable }) => {
      const { addresses, failure } = await resolve(hostname, timeoutMs);
      facts[name] = {
        host: hostname,
        ...(proxy && { note: 'the proxy; it resolves the name of the bank itself' }),
        ...(addresses && { addresses }),
      };
      if (failure === undefined) return null;
      const setting = proxy ? 'EGRESS_PROXY_URL (or HTTPS_PROXY)' : variable;
      return new StepFailed(
        'dns-failed',
        'network',
        `The name ${hostname} could not be resolved (${failure}).`,
        `Check the name in ${setting}; if it is right, ask the network team why the resolver of this machine does not know it or does not answer: nslookup ${hostname}`,
      );
    }),
  );
  failTogether(failures);
}

/** All addresses of a name, as the runtime's own connections find them, or why there are none. */
async function resolve(hostname: string, timeoutMs: number): Promise<{ addresses?: string[]; failure?: string }> {
  if (isIP(hostname)) return { addresses: [hostname] };
  try {
    const found = await within(lookup(hostname, { all: true }), timeoutMs);
    if (found === TIMED_OUT) return { failure: `no answer within ${timeoutMs} ms` };
    return { addresses: found.map(({ address }) => address) };
  } catch (error) {
    return { failure: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}
