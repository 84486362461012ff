import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { TIMED_OUT, within } from '../time/deadline.js';
import { failTogether, lineFor, type BankHost } from './hosts.js';
import { StepFailed } from './step-failed.js';
import type { Findings } from './walk.js';

/** All addresses of a name, as the runtime's own connections find them. */
const lookupAll = (hostname: string) => lookup(hostname, { all: true });

interface Lookup {
  readonly host: BankHost;
  readonly addresses: readonly string[];
  /** The reason why there are none; null when there are. */
  readonly failure: string | null;
}

/**
 * Resolves the names that this machine must resolve: the bank's hosts, or only the proxy's, because a proxy resolves the
 * bank's.
 */
export async function checkDns(
  hosts: readonly BankHost[],
  timeoutMs: number,
  { facts, lines }: Findings,
  resolve: (hostname: string) => Promise<readonly { readonly address: string }[]> = lookupAll,
): Promise<void> {
  const lookups = await Promise.all(
    hosts.map(async (host): Promise<Lookup> => {
      if (isIP(host.hostname)) return { host, addresses: [host.hostname], failure: null };
      try {
        const found = await within(resolve(host.hostname), timeoutMs);
        if (found === TIMED_OUT) return { host, addresses: [], failure: `no answer within ${timeoutMs} ms` };
        return { host, addresses: found.map(({ address }) => address), failure: null };
      } catch (error) {
        return { host, addresses: [], failure: (error as NodeJS.ErrnoException).code ?? 'unknown' };
      }
    }),
  );
  for (const { host, addresses, failure } of lookups) {
    const { name, hostname, proxy } = host;
    facts[name] = {
      host: hostname,
      ...(proxy && { note: 'the proxy; it resolves the name of the bank itself' }),
      ...(failure === null && { addresses }),
    };
    const found = isIP(hostname) ? 'an address, no name to resolve' : addresses.join(', ') || 'not found';
    lines.push(lineFor(host, `${hostname}: ${found}${proxy ? ' (the proxy)' : ''}`));
  }
  failTogether(lookups.map(({ host, failure }) => (failure === null ? null : toFailure(host, failure))));
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
