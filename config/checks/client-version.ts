// Part of npm run check:client: fails unless client/packed.json has the version and the digest of the client's package.
// Apps store the package under its version, so a version must mean one package. npm run client:record writes both, unless
// this version is released with other bytes.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildClient } from '../build/build-client.ts';
import { problemWith, readPackedClient, type PackedClient } from './packed-client.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLIENT = join(ROOT, 'client');
const RECORD = join(CLIENT, 'packed.json');

await buildClient();
const client = readPackedClient(CLIENT);
const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as PackedClient;
const tag = spawnSync('git', ['rev-parse', '--quiet', '--verify', `refs/tags/v${client.version}`], { cwd: ROOT });
const problem = problemWith(client, recorded, tag.status === 0);
const mayRecord = problem === null || !problem.includes('raise');
if (process.argv.includes('--record') && mayRecord) {
  writeFileSync(RECORD, `${JSON.stringify(client, null, 2)}\n`);
} else if (problem !== null) {
  process.stderr.write(`client/packed.json is not of the client ${client.version}: ${problem}\n`);
  process.exitCode = 1;
}
