/** The oldest Node without known vulnerabilities in what the gateway uses (docs/deploy.md#node). */
export const NODE_FLOOR = '24.22.3';

/** The warning about a Node below the floor. `npm ci` installs such a Node for a first try and for the tests. */
export function warnOfNode(version: string): string[] {
  if (version.localeCompare(NODE_FLOOR, 'en', { numeric: true }) >= 0) return [];
  const uses = 'It is meant for a first try and for tests';
  return [`Node ${version} has known vulnerabilities. ${uses}: in production, use Node ${NODE_FLOOR} or later`];
}
