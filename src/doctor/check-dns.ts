import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { TIMED_OUT, within } from '../time/deadline.js';
import { lineFor, type BankHost } from './hosts.js';
import { failTogether, StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** All addresses of a name, as the runtime's own connections find them. */
type Resolve = (hostname: string) => Promise<readonly { readonly address: string }[]>;

const asConnectionsDo: Resolve = (hostname) => lookup(hostname, { all: true });

/** Resolves the names that this machine has to: the bank's hosts, or the proxy's where it does that for us. */
export async function checkDns(
  hosts: readonly BankHost[],
  timeoutMs: number,
  { facts, lines }: Findings,
  resolve: Resolve = asConnectionsDo,
): Promise<void> {
  const failures = await Promise.all(
    hosts.map(async (host): Promise<readonly [BankHost, StepFailed | null]> => {
      const { name, hostname, proxy } = host;
      const fact = { host: hostname, ...(proxy && { note: 'the proxy; it resolves the name of the bank itself' }) };
      facts[name] = fact;
      try {
        const found = isIP(hostname) ? [{ address: hostname }] : await within(resolve(hostname), timeoutMs);
        if (found === TIMED_OUT) return [host, toFailure(host, `no answer within ${timeoutMs} ms`)];
        facts[name] = { ...fact, addresses: found.map(({ address }) => address) };
        return [host, null];
      } catch (error) {
        return [host, toFailure(host, (error as NodeJS.ErrnoException).code ?? 'unknown')];
      }
    }),
  );
  for (const host of hosts) {
    const { addresses } = facts[host.name] as { addresses?: readonly string[] };
    const found = isIP(host.hostname) ? 'an address, no name to resolve' : (addresses?.join(', ') ?? 'not found');
    lines.push(lineFor(host, `${host.hostname}: ${found}${host.proxy ? ' (the proxy)' : ''}`));
  }
  failTogether(failures);
}

function toFailure({ hostname, proxy, variable }: BankHost, code: string): StepFailed {
  const setting = proxy ? 'EGRESS_PROXY_URL (or HTTPS_PROXY)' : variable;
  const unknown = code === 'ENOTFOUND' || code === 'ENODATA';
  return new StepFailed(
    'dns-failed',
    'network',
    `The name ${hostname} could not be resolved (${code}).`,
    unknown
      ? `Check the name in ${setting}; if it is right, ask the network team why the resolver of this machine does not know it: nslookup ${hostname}`
      : `Ask the network team why the resolver of this machine gives no answer for ${hostname} (DNS servers, firewall for port 53): nslookup ${hostname}`,
  );
}
