import type { Health } from './health.js';
import type { Incident } from './incident.js';

/** The text for the bank's support desk, or the network team: what they need to find our calls, and nothing secret. */
export function toMessage(
  { title, trouble, since, attempts, impact }: Incident,
  { details, environment, instance, version }: Health,
  requestIds: readonly string[],
  now: number,
): string {
  const { bank, certificate, egress } = details;
  const rows: readonly (readonly [string, unknown])[] = [
    ['What is broken', trouble.detail || title],
    ['Cause', trouble.code],
    ['Impact', impact],
    ['Since', since && `${since}${attempts ? ` (${attempts} attempts)` : ''}`],
    ['Last error', bank.lastError && `${bank.lastError.code} at ${bank.lastError.at}`],
    ['Last success', bank.lastSuccessAt],
    ['Time', new Date(now).toISOString()],
    ['Request ids', requestIds.join(', ')],
    ['Bank host', bank.host],
    ['Route', egress.route],
    ['Certificate', certificate.subject],
    ['Thumbprint', certificate.thumbprint && `${certificate.thumbprint} (SHA-1)`],
    ['Valid to', certificate.notAfter],
    ['Gateway', ['accounts-gateway', version, environment, instance].filter(Boolean).join(' ')],
  ];
  const filled = rows.filter(([, value]) => typeof value === 'string' && value !== '');
  const width = Math.max(...filled.map(([name]) => name.length)) + 2;
  return [`Accounts API: ${title}`, '', ...filled.map(([name, value]) => `${name.padEnd(width)}${value}`), ''].join(
    '\n',
  );
}
