import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { read, ROOT, rowsUnder, coded } from '../support/documents.js';
import { kubernetesFaults, type Files } from './kubernetes-faults.js';

const directory = 'config/kubernetes';
const files: Files = Object.fromEntries(
  readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path))
    .map((path) => [path, read(join(directory, path))]),
);
const image = {
  user: /^USER (.+)$/m.exec(read('Dockerfile'))?.[1] ?? '',
  routes: rowsUnder(read('docs/api.md'), 'path', 'answer').flatMap(([path]) => coded(path)),
};

describe('config/kubernetes', () => {
  it('fits together, and fits the program and its image', () => {
    expect(Object.keys(files).length).toBeGreaterThan(9);
    expect(kubernetesFaults(files, image)).toEqual([]);
  });

  it.each([
    ['YAML that is none', 'service.yaml', 'spec:', 'spec: [', 'service.yaml: '],
    [
      'a file that is not there',
      'kustomization.yaml',
      '- service.yaml',
      '- services.yaml',
      'services.yaml is named and',
    ],
    [
      'a file that nobody names',
      'kustomization.yaml',
      '- pod-monitor.yaml',
      '- service.yaml',
      'pod-monitor.yaml is named by no',
    ],
    ['a secret among the files', 'service.yaml', 'kind: Service', 'kind: Secret', 'service.yaml holds a Secret'],
    ['a selector of nothing', 'service.yaml', /selector:\n.+/, 'selector: {}', 'the selector of Service'],
    ['a selector of others', 'pod-monitor.yaml', /(matchLabels:\n.+: ).+/, '$1gateway', 'the selector of PodMonitor'],
    ['a port that is not named so', 'service.yaml', 'targetPort: http', 'targetPort: web', 'Service: port web'],
    ['a port where nothing listens', 'settings.env', 'PORT=3000', 'PORT=3001', 'livenessProbe: port http'],
    ['a probe of no route', 'deployment.yaml', '/health/ready', '/readyz', 'there is no route /readyz'],
    ['a misspelt setting', 'settings.env', 'ALLOWED_CLIENTS', 'ALLOWED_CLIENT', 'ALLOWED_CLIENT is no setting'],
    ['a value that is not taken', 'settings.env', 'https://api', 'http://api', 'BANK_BASE_URL '],
    ['a setting that is missing', 'settings.env', /^ALLOWED_HOSTS.*$/m, '', 'ALLOWED_HOSTS '],
    ['a secret that is nowhere', 'deployment.yaml', 'bank/passcode', '../bank/passcode', 'BANK_PFX_PASSCODE_FILE: '],
    [
      'a volume that is none',
      'deployment.yaml',
      '- name: bank\n          secret',
      '- name: banks\n          secret',
      'bank is mounted and',
    ],
    [
      'subPath',
      'deployment.yaml',
      'readOnly: true',
      'readOnly: true\n              subPath: a',
      'bank is mounted with subPath',
    ],
    ['state where nothing can be written', 'settings.env', '=/var/lib', '=/var/cache', 'SNAPSHOT_FILE: '],
    ['no place for temporary files', 'deployment.yaml', 'mountPath: /tmp', 'mountPath: /scratch', 'temporary files: '],
    ['another user than that of the image', 'deployment.yaml', 'runAsUser: 1000', 'runAsUser: 1001', 'the user is not'],
    [
      'a file system that can be written',
      'deployment.yaml',
      'readOnlyRootFilesystem: true',
      'readOnlyRootFilesystem: false',
      'the root',
    ],
    [
      'an end before the end of a stop',
      'deployment.yaml',
      'Seconds: 30',
      'Seconds: 15',
      'terminationGracePeriodSeconds',
    ],
    [
      'another ConfigMap',
      'deployment.yaml',
      'configMapRef:\n                name: accounts-gateway',
      'configMapRef:\n                name: x',
      'there is no ConfigMap x',
    ],
    [
      'sharing for another container',
      'fleet/sharing.yaml',
      '- name: gateway',
      '- name: gw',
      'fleet: the patched container',
    ],
    [
      'sharing by a misspelt setting',
      'fleet/sharing.yaml',
      'REDIS_URL_FILE',
      'REDIS_FILE',
      'fleet: REDIS_FILE is no setting',
    ],
    ['sharing without its secret', 'fleet/sharing.yaml', '/sharing/url', '/share/url', 'fleet: REDIS_URL_FILE: '],
  ])('its twin: %s is found', (_name, path, from, to, fault) => {
    const text = files[path] ?? '';
    const changed = text.replace(from, to);
    expect(changed).not.toBe(text);
    const faults = kubernetesFaults({ ...files, [path]: changed }, image);
    expect(faults.filter((each) => each.startsWith(fault))).not.toEqual([]);
  });
});
