/**
 * A step of `.ci/run`: renders config/kubernetes and its overlay with kubectl, and checks the result field by field
 * against the Kubernetes API from which a release of the official client is generated. Rejects unknown fields. Then
 * runs the kubectl lines in docs/deploy.md that need no cluster.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const CLIENT = '@kubernetes/client-node@2.0.1';
/** Kinds of the Prometheus operator, which are not part of the API. */
const FOREIGN = 'monitoring.coreos.com/';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}
interface Field {
  readonly baseName: string;
  readonly type: string;
}

const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const version = run(kubectl, 'version', '--client');
if (version === undefined) {
  process.stderr.write('kubernetes: skipped, kubectl is missing (1.21 or newer)\n');
  process.exit();
}
const work = mkdtempSync(join(tmpdir(), 'kubernetes-'));
try {
  run('npm', 'pack', CLIENT, '--pack-destination', work, '--silent');
  run('tar', '-xzf', join(work, 'kubernetes-client-node-2.0.1.tgz'), '-C', work);
  const overlay = join(work, 'overlay');
  mkdirSync(overlay);
  const from = relative(overlay, join(ROOT, 'config/kubernetes'));
  writeFileSync(join(overlay, 'kustomization.yaml'), `resources: [${from}]\ncomponents: [${from}/fleet]\n`);
  const manifests = [...render(join(ROOT, 'config/kubernetes')), ...render(overlay)];
  const native = manifests.filter(({ apiVersion }) => !apiVersion.startsWith(FOREIGN));
  const errors = (await Promise.all(native.map(check))).flat();
  // proves that an unknown field is found
  const misspelled = await check({ ...(native[0] as Manifest), metdata: {} } as Manifest);
  if (misspelled.length !== 1) errors.push('a misspelled field is not found');
  errors.push(...errorsOfDocument());
  for (const error of errors) process.stderr.write(`kubernetes: ${error}\n`);
  const api = /spec version: release-(\S+)/.exec(model('V1Pod', 'js'))?.[1];
  if (errors.length > 0) process.exitCode = 1;
  else
    process.stdout.write(
      `kubernetes: ${native.length} objects are valid for Kubernetes ${api}; ${version.split('\n')[0]}\n`,
    );
} finally {
  rmSync(work, { recursive: true });
}

function run(program: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Failures of the document's kubectl lines: `create` as a dry run, `kustomize` as printed. */
function errorsOfDocument(): string[] {
  const lines = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([program]) => program === 'kubectl');
  const files = join(work, 'files');
  mkdirSync(files);
  for (const name of ['username', 'password', 'passcode', 'client.pfx']) writeFileSync(join(files, name), name);
  const created = lines
    .filter((words) => words.includes('create'))
    .map(([, ...words]) => runIn(files, ...words, '--dry-run=client', '--output=name').trim());
  const rendered = lines.filter((words) => words.includes('kustomize')).map(([, ...words]) => runIn(ROOT, ...words));
  const expected = ['namespace/accounts-gateway', 'secret/accounts-gateway-bank'];
  if (created.join() !== expected.join()) return [`docs/deploy.md creates ${created.join()}`];
  return rendered.length === 1 && rendered[0]?.includes('kind: Deployment')
    ? []
    : ['docs/deploy.md does not render the manifests'];
}

function runIn(directory: string, ...args: string[]): string {
  return execFileSync(kubectl, args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function render(directory: string): Manifest[] {
  const text = run(kubectl, 'kustomize', '--load-restrictor=LoadRestrictionsNone', directory) ?? '';
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Errors that the API server would report: unknown fields, missing fields, values of the wrong type. */
async function check(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind, metadata } = manifest;
  const name = `V${(apiVersion.split('/').at(-1) ?? '').slice(1)}${kind}`;
  return checkValue(name, manifest, `${kind} ${metadata.name}`);
}

async function checkValue(type: string, value: unknown, path: string): Promise<string[]> {
  const item = /^Array<(.+)>$/.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return (await Promise.all(value.map((each, index) => checkValue(item, each, `${path}[${index}]`)))).flat();
  }
  const entry = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (entry !== undefined) {
    const entries = Object.entries(value as object);
    return (await Promise.all(entries.map(([key, each]) => checkValue(entry, each, `${path}.${key}`)))).flat();
  }
  if (type === 'IntOrString') return ['number', 'string'].includes(typeof value) ? [] : [`${path} is not ${type}`];
  if (['string', 'number', 'boolean'].includes(type)) return typeof value === type ? [] : [`${path} is not a ${type}`];
  return checkObject(type, value as object, path);
}

async function checkObject(type: string, value: object, path: string): Promise<string[]> {
  if (!existsSync(modelPath(type, 'js'))) return [`${path}: there is no ${type}`];
  const models = (await import(pathToFileURL(modelPath(type, 'js')).href)) as Record<
    string,
    { getAttributeTypeMap(): Field[] }
  >;
  const fields = models[type]?.getAttributeTypeMap() ?? [];
  const required = [...model(type, 'd.ts').matchAll(/^ {4}'(\w+)': /gm)].map(([, name]) => name ?? '');
  const missing = required.filter((name) => !(name.replace(/^_/, '') in value));
  const found = Object.entries(value).map(([name, each]) => {
    const field = fields.find(({ baseName }) => baseName === name);
    return field ? checkValue(field.type, each, `${path}.${name}`) : [`${path}.${name} is unknown`];
  });
  return [...missing.map((name) => `${path}.${name} is missing`), ...(await Promise.all(found)).flat()];
}

function modelPath(type: string, extension: string): string {
  return join(work, 'package/dist/gen/models', `${type}.${extension}`);
}

function model(type: string, extension: string): string {
  return readFileSync(modelPath(type, extension), 'utf8');
}
