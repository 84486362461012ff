import { describeRoute, type Egress } from '../egress/egress.js';
import type { ConnectionFacts } from '../egress/probe.js';
import { toGatewayError, type GatewayError } from '../problems/gateway-error.js';
import type { EgressSettings } from '../settings/settings.js';
import type { BankHost } from './hosts.js';
import { StepFailed, toStepFailed } from './step-failed.js';

interface Probe {
  readonly host: BankHost;
  readonly facts: ConnectionFacts;
  readonly failure: GatewayError | null;
}

/** One connection to each host, made as every call makes it; looked at twice, for the way and for TLS. */
export class ConnectionCheck {
  readonly #egress: Egress;
  readonly #hosts: readonly BankHost[];
  readonly #thumbprint: string;
  readonly #probes: Probe[] = [];

  constructor(egress: Egress, hosts: readonly BankHost[], thumbprint: string) {
    this.#egress = egress;
    this.#hosts = hosts;
    this.#thumbprint = thumbprint;
  }

  /** TCP, or the tunnel through the proxy. */
  async checkRoute(settings: EgressSettings, facts: Record<string, unknown>): Promise<void> {
    for (const host of this.#hosts) {
      const probe = await this.#probe(host);
      this.#probes.push(probe);
      const { localAddress, remoteAddress, proxyStatus, transportMs } = probe.facts;
      facts[host.name] = {
        route: describeRoute(settings, host.url),
        remoteAddress,
        sourceAddress: localAddress && `${localAddress} (local; behind a proxy or NAT the bank sees another one)`,
        proxyStatus,
        ms: transportMs,
      };
      if (probe.failure && !probe.facts.reached) throw withFirewall(probe.failure);
    }
  }

  /** The handshake, the server's certificate, and whether ours was accepted. */
  async checkTls(facts: Record<string, unknown>): Promise<void> {
    for (const { host, facts: seen, failure } of this.#probes) {
      const { tlsVersion, cipher, serverChain, tlsMs } = seen;
      facts[host.name] = { tlsVersion, cipher, serverChain, ourThumbprint: this.#thumbprint, ms: tlsMs };
      if (failure) throw failure;
    }
  }

  async #probe(host: BankHost): Promise<Probe> {
    const facts: ConnectionFacts = { reached: false, secured: false };
    try {
      await this.#egress.probe(host.target, host.url, facts);
      return { host, facts, failure: null };
    } catch (error) {
      return { host, facts, failure: toGatewayError(error) };
    }
  }
}

/** Where not even a connection came about, a firewall is the usual cause. */
function withFirewall(failure: GatewayError): StepFailed {
  const { code, owner, problem, remedy } = toStepFailed(failure);
  const firewall = code === 'bank-timeout' || code === 'bank-unavailable';
  return new StepFailed(
    code,
    owner,
    problem,
    firewall
      ? `Ask the network team whether the firewall lets this machine out to that host and port; then ask the bank whether its service is up. ${remedy}`
      : remedy,
  );
}
