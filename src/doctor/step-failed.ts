import { GatewayError } from '../problems/gateway-error.js';
import type { Owner } from '../problems/problem-table.js';
import type { BankHost } from './hosts.js';
import { remedyFor } from './remedies.js';
import type { DoctorCode, StepName } from './report.js';

/** Why a step of the doctor failed: who must act, and what to do about it. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  constructor(
    readonly code: DoctorCode,
    readonly owner: Owner,
    readonly problem: string,
    readonly remedy: string,
    /** The step it belongs to, when a later one has shown it: under TLS 1.3 a refusal arrives after the handshake. */
    readonly step: StepName | null = null,
  ) {
    super(problem);
  }
}

/** The failure of `step` as the doctor reports it. An unexpected error is reported without its message. */
export function toStepFailed(thrown: unknown, step: StepName): StepFailed {
  if (thrown instanceof StepFailed) return thrown;
  if (thrown instanceof GatewayError && thrown.code !== 'internal-error') {
    return new StepFailed(thrown.code, thrown.owner, capital(thrown.detail), remedyFor(step, thrown.code));
  }
  const fault = thrown instanceof GatewayError ? thrown.cause : thrown;
  return new StepFailed(
    'internal-error',
    'operator',
    `An internal error of the gateway: ${placeOf(fault)}.`,
    'Report this text and the version to the maintainers of the gateway.',
  );
}

/** With two hosts: fails by the first failure there is, with all problems, and advice that holds for both given once. */
export function failTogether(outcomes: readonly (readonly [BankHost, StepFailed | null])[]): void {
  const found = outcomes.flatMap(([host, failure]) => (failure ? [{ host, failure }] : []));
  const [first] = found;
  if (!first) return;
  const { code, owner } = first.failure;
  const advice = new Map<string, BankHost[]>();
  for (const { host, failure } of found) {
    const open = OWN_WORDS.reduce((text, word, index) => text.replaceAll(word(host), `\0${index}\0`), failure.remedy);
    advice.set(open, [...(advice.get(open) ?? []), host]);
  }
  const named = ([open, hosts]: [string, BankHost[]]) =>
    OWN_WORDS.reduce(
      (text, word, index) => text.replaceAll(`\0${index}\0`, [...new Set(hosts.map(word))].join(' and ')),
      open,
    );
  throw new StepFailed(
    code,
    owner,
    [...new Set(found.map(({ failure }) => failure.problem))].join(' '),
    [...advice].map(named).join(' '),
  );
}

/** What differs between pieces of advice that are the same for two hosts. */
const OWN_WORDS: readonly ((host: BankHost) => string)[] = [
  ({ hostname, port }) => `${hostname}:${port}`,
  ({ address }) => address,
  ({ hostname }) => `nslookup ${hostname}`,
  ({ variable }) => variable,
];

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The message of an unforeseen error may quote data; its name and place do not. */
function placeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const place = fault.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return `${fault.name}${place ? ` ${place.trim()}` : ''}`;
}
