import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { itemsOf, read, ROOT, under } from '../support/documents.js';
import { settingErrors } from './setting-errors.js';

type Files = Readonly<Record<string, string>>;
// oxlint-disable-next-line typescript/no-explicit-any -- read as it is; a missing property fails the test
type Yaml = any;

const directory = 'config/kubernetes';
const files: Files = Object.fromEntries(
  readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path))
    .map((path) => [path, read(join(directory, path))]),
);
const user = /^USER (.+)$/m.exec(read('Dockerfile'))?.[1];
const routes = new Set(itemsOf(under(read('docs/api.md'), 'Routes')).flatMap(({ names }) => names));

/** Differences between the manifests and the program or its image. check-manifests.ts validates the form. */
function misfits(all: Files): string[] {
  const yaml = (path: string): Yaml => parse(all[path] ?? '');
  const { spec: pod, metadata } = yaml('deployment.yaml').spec.template;
  const [container] = pod.containers;
  const { containers, volumes } = yaml('fleet/sharing.yaml').spec.template.spec;
  const environment: Record<string, string> = parseEnv(all['settings.env'] ?? '') as Record<string, string>;
  for (const { name, value } of [...container.env, ...containers[0].env]) environment[name] = value;
  const mounts: Yaml[] = [...container.volumeMounts, ...containers[0].volumeMounts];
  const secrets = new Set([...pod.volumes, ...volumes].filter(({ secret }) => secret).map(({ name }) => name));
  const isSecret = (path: string) =>
    mounts.some(({ name, mountPath }) => secrets.has(name) && path.startsWith(`${mountPath}/`));
  const selectors: Yaml[] = [
    yaml('service.yaml').spec.selector,
    ...['pod-disruption-budget.yaml', 'pod-monitor.yaml'].map((path) => yaml(path).spec.selector.matchLabels),
    yaml('network-policy.yaml').spec.podSelector.matchLabels,
  ];
  const probes: Yaml[] = [container.livenessProbe, container.readinessProbe, container.startupProbe];
  const found: Record<string, boolean> = {
    'a selector misses the pods': selectors.some(
      (labels) => JSON.stringify(labels) !== JSON.stringify(metadata.labels),
    ),
    'a probe asks for an unknown route': probes.some(({ httpGet }) => !routes.has(httpGet.path)),
    'nothing listens on the port': String(container.ports[0].containerPort) !== environment['PORT'],
    'the user is not that of the image': `${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}` !== user,
    'a stop takes longer than the grace period':
      pod.terminationGracePeriodSeconds * 1000 <=
      Number(environment['SHUTDOWN_DELAY_MS']) + Number(environment['SHUTDOWN_GRACE_MS']),
    'a renewed secret would never be seen': mounts.some(({ subPath }) => subPath !== undefined),
    'a secret is not mounted': Object.entries(environment).some(
      ([name, path]) => name.endsWith('_FILE') && name !== 'SNAPSHOT_FILE' && !isSecret(path),
    ),
    'a network policy allows every namespace': Object.values(all).some((text) =>
      text.includes('namespaceSelector: {}'),
    ),
    'a secret is among the files': Object.values(all).some((text) => /^kind: Secret$/m.test(text)),
  };
  return [...settingErrors(environment), ...Object.keys(found).filter((misfit) => found[misfit])];
}

describe('config/kubernetes', () => {
  it('matches the program and its image', () => {
    expect(misfits(files)).toEqual([]);
  });

  it.each([
    ['service.yaml', /(selector:\n.+: ).+/, '$1gateway', 'a selector misses the pods'],
    ['deployment.yaml', '/health/ready', '/readyz', 'a probe asks for an unknown route'],
    ['settings.env', 'PORT=3000', 'PORT=3001', 'nothing listens on the port'],
    ['deployment.yaml', 'runAsUser: 1000', 'runAsUser: 1001', 'the user is not that of the image'],
    ['deployment.yaml', 'Seconds: 30', 'Seconds: 15', 'a stop takes longer than the grace period'],
    ['deployment.yaml', 'readOnly: true', 'subPath: a', 'a renewed secret would never be seen'],
    ['fleet/sharing.yaml', '/sharing/url', '/share/url', 'a secret is not mounted'],
    ['service.yaml', 'kind: Service', 'kind: Secret', 'a secret is among the files'],
    ['settings.env', 'ALLOWED_CLIENTS', 'ALLOWED_CLIENT', 'ALLOWED_CLIENT'],
    ['settings.env', 'https://api', 'http://api', 'BANK_BASE_URL '],
    ['fleet/sharing.yaml', 'REDIS_URL_FILE', 'REDIS_FILE', 'REDIS_FILE'],
  ])('the negative case: finds %s with %s as %s', (path, from, to, misfit) => {
    const text = files[path] ?? '';
    expect(text.replace(from, to)).not.toBe(text);
    const found = misfits({ ...files, [path]: text.replace(from, to) });
    expect(found.some((each) => each.startsWith(misfit))).toBe(true);
  });
});
