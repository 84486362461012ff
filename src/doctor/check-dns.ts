import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { goesDirect } from '../egress/egress.js';
import type { EgressSettings } from '../settings/settings.js';
import type { BankHost } from './hosts.js';
import { StepFailed } from './step-failed.js';

/** Resolves the names that this machine has to: the bank's hosts, or the proxy's where it does that for us. */
export async function checkDns(
  egress: EgressSettings,
  hosts: readonly BankHost[],
  facts: Record<string, unknown>,
): Promise<void> {
  for (const { name, url } of hosts) {
    const proxied = egress.proxy !== null && !goesDirect(egress, url);
    const hostname = (proxied && egress.proxy ? egress.proxy : new URL(url)).hostname.replace(/^\[|\]$/g, '');
    const fact: Record<string, unknown> = {
      host: hostname,
      ...(proxied && { note: 'the proxy; it resolves the name of the bank itself' }),
    };
    facts[name] = fact;
    if (isIP(hostname) !== 0) fact['addresses'] = [hostname];
    else fact['addresses'] = await resolve(hostname, egress.connectTimeoutMs, proxied);
  }
}

async function resolve(hostname: string, timeoutMs: number, proxied: boolean): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error('too slow'), { code: `no answer within ${timeoutMs} ms` })),
      timeoutMs,
    );
  });
  try {
    const found = await Promise.race([lookup(hostname, { all: true }), timeout]);
    return found.map(({ address }) => address);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new StepFailed(
      'dns-failed',
      'network',
      `The name ${hostname} could not be resolved (${code}).`,
      `Check the name in ${proxied ? 'EGRESS_PROXY_URL' : 'BANK_BASE_URL and BANK_AUTH_URL'}; then ask the network team why the resolver of this machine does not know it: nslookup ${hostname}`,
    );
  } finally {
    clearTimeout(timer);
  }
}
