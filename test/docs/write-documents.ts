/**
 * `npm run docs`: writes all parts of documents that are generated from code. With `--check`, it only fails if they
 * differ.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { parse, stringify } from 'yaml';
import { ALL_CODES, OWNERS, PROBLEMS } from '../../src/errors/problem-table.js';
import { COMMANDS } from '../../src/pages/problems/commands.js';
import prepare from '../support/build-sources.js';
import { read, ROOT } from '../support/documents.js';
import { fieldList, parameterList, type OpenApi } from './api-document.js';
import { settingsDocuments } from './settings-documents.js';

interface AlertRule {
  readonly alert?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

/** The time by which somebody must act on an alert. */
const HOW_SOON: Readonly<Record<string, string>> = {
  critical: 'at any hour',
  warning: 'the same day',
  info: 'the same week',
};

const GENERATED = 'client/src/generated';

if (!process.argv.includes('--check')) {
  execFileSync(process.execPath, ['config/build/build.ts', '--if-needed', '--any-client'], { cwd: ROOT });
}
prepare();
const documents = new Map<string, string>([
  ...settingsDocuments(),
  ['docs/errors.md', between('docs/errors.md', 'codes', problemList())],
  [
    'docs/troubleshooting.md',
    between(
      'docs/troubleshooting.md',
      'commands',
      commandList(),
      between('docs/troubleshooting.md', 'alerts', alertList()),
    ),
  ],
  ['config/kubernetes/prometheus-rule.yaml', prometheusRule()],
  ...(await fromOpenApi()),
]);
for (const [path, text] of documents) if (path.endsWith('.md')) documents.set(path, await pretty(path, text));
const outdated = [...documents]
  .filter(([path, text]) => !existsSync(join(ROOT, path)) || read(path) !== text)
  .map(([path]) => path);
if (process.argv.includes('--check')) {
  if (outdated.length > 0) process.stderr.write(`Not as the code has it, run npm run docs: ${outdated.join(', ')}\n`);
  process.exitCode = outdated.length > 0 ? 1 : 0;
} else {
  for (const path of outdated) writeFileSync(join(ROOT, path), documents.get(path) ?? '');
}

/** The document with this text between its comments `<!-- name -->` and `<!-- /name -->`. */
function between(path: string, name: string, text: string, document = read(path)): string {
  const place = new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*(?=<!-- /${name} -->)`);
  if (!place.test(document)) throw new Error(`${path} has no place for ${name}`);
  return document.replace(place, () => `\n${text}\n`);
}

async function pretty(path: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(join(ROOT, path))), filepath: path });
}

/** The commands for each way to run the gateway. The long one has its own block. */
function commandList(): string {
  return Object.entries(COMMANDS)
    .map(([name, { systemd, docker, kubernetes }]) => {
      const ofSystemd = systemd.startsWith('systemd-run') ? '[below](#the-doctor)' : `\`${systemd}\``;
      return `- **${name}**\n  - systemd: ${ofSystemd}\n  - Docker: \`${docker}\`\n  - Kubernetes: \`${kubernetes}\`\n`;
    })
    .join('');
}

/** The codes of each owner, with their steps. */
function problemList(): string {
  const sections = OWNERS.map((owner) => {
    const codes = ALL_CODES.filter((code) => PROBLEMS[code].owner === owner);
    const lines = codes.map((code) => {
      const { status, when, steps } = PROBLEMS[code];
      const list = steps.map((step, index) => `${index + 1}. ${step}\n`).join('');
      return `#### ${code}\n\n${status === null ? '' : `**${status}.** `}${when}\n\n${list}`;
    });
    return `### The ${owner} must act\n\n${lines.join('\n')}`;
  });
  return sections.join('\n');
}

/** The alerts of each severity, with links to their headings. */
function alertList(): string {
  const { groups } = parse(read('config/prometheus/alerts.yml')) as { groups: { rules: AlertRule[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  const rows = [...Map.groupBy(alerts, ({ labels }) => labels.severity)].map(([severity, ofThese]) => {
    const links = ofThese.map(
      ({ alert, annotations }) =>
        `[${alert?.replace('AccountsGateway', '')}](#${annotations.runbook_url.split('#')[1]})`,
    );
    return `- **${severity}**, ${HOW_SOON[severity]}: ${links.join(', ')}\n`;
  });
  return rows.join('');
}

/** The alert rules for the Prometheus operator. */
function prometheusRule(): string {
  const rules = parse(read('config/prometheus/alerts.yml')) as object;
  return `# Written by npm run docs from config/prometheus/alerts.yml, which explains it.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: accounts-gateway
  labels:
    app.kubernetes.io/name: accounts-gateway
${stringify({ spec: rules }, { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true })}`;
}

/** From the OpenAPI document: the lists of docs/api.md, and the typed client's types, which the pinned generator makes. */
async function fromOpenApi(): Promise<(readonly [string, string])[]> {
  // imported here because they need files that prepare() builds
  const { startGateway } = await import('../support/gateway.js');
  const { start } = await import('../support/sandbox.js');
  const { closeAll } = await import('../support/closing.js');
  const gateway = await startGateway(await start());
  const { text } = await gateway.get('/openapi.json');
  await closeAll();
  const directory = mkdtempSync(join(tmpdir(), 'openapi-'));
  const [input, output] = [join(directory, 'openapi.json'), join(directory, 'types')];
  writeFileSync(input, text);
  execFileSync(process.execPath, [join(ROOT, 'client/generate-types.js'), input, output]);
  const files = readdirSync(output).map(
    (name) => [join(GENERATED, name), readFileSync(join(output, name), 'utf8')] as const,
  );
  rmSync(directory, { recursive: true });
  const document = JSON.parse(text) as OpenApi;
  const withParameters = between('docs/api.md', 'parameters', parameterList(document));
  return [...files, ['docs/api.md', between('docs/api.md', 'account', fieldList(document, 'Account'), withParameters)]];
}
