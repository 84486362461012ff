import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';
import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';
import { read } from '../support/documents.js';

const ROOT = join(import.meta.dirname, '../..');

interface Service {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly user?: string;
  readonly mem_limit: string;
  readonly command?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly ports?: readonly string[];
  readonly depends_on?: Record<string, { readonly condition: string }>;
  readonly healthcheck?: unknown;
}

/** As compose reads it: merge keys, and the defaults of ${NAME:-default}. */
function readCompose(text: string): Record<string, Service> {
  const plain = text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  return (parse(plain, { merge: true }) as { services: Record<string, Service> }).services;
}

/** What the program finds wrong with the environment of a service, but for files that only its container has. */
function faultsOf({ command = [], environment = {} }: Service): string[] {
  const unknown = Object.keys(environment).filter((name) => !KNOWN_NAMES.includes(name));
  try {
    readSettings(environment, { sandbox: command.includes('sandbox'), sandboxAlone: command.includes('sandbox') });
    return unknown;
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    const faults = error.errors.filter(({ problem }) => !problem.includes('does not exist'));
    return [...unknown, ...faults.map(({ variable, problem }) => `${variable} ${problem}`)];
  }
}

describe('docker-compose.yml', () => {
  const text = read('docker-compose.yml');
  const services = readCompose(text);

  const own = Object.entries(services).filter(([, { image }]) => image === 'accounts-gateway');
  const beside = Object.entries(services).filter(([, { image }]) => image !== 'accounts-gateway');

  it('has the services of each profile', () => {
    const of = (wanted: string) =>
      Object.keys(services).filter((name) => (services[name]?.profiles ?? ['']).includes(wanted));
    expect(of('')).toEqual(['gateway', 'sandbox']);
    expect(of('fleet')).toEqual(['fleet', 'valkey', 'balancer']);
    expect(of('egress')).toEqual(['egress', 'squid']);
    expect(of('monitoring')).toEqual(['prometheus', 'grafana']);
  });

  it('sets what the program knows, to values that it takes', () => {
    for (const [name, service] of own) {
      expect({ name, faults: faultsOf(service) }).toEqual({ name, faults: [] });
    }
  });

  it.each([
    ['a misspelt name', 'ALLOWED_CLIENTS:', 'ALLOWED_CLIENT:', 'ALLOWED_CLIENT'],
    ['a value that is not taken', "PORT: '3000'", "PORT: 'three'", 'PORT'],
    ['one that is missing', /^ +BANK_USERNAME_FILE:.*\n/m, '', 'BANK_USERNAME'],
  ])('its twin: %s is found', (_name, from, to, fault) => {
    const { gateway } = readCompose(text.replace(from, to));
    expect(faultsOf(gateway as Service).some((each) => each.startsWith(fault))).toBe(true);
  });

  it('has memory for 100 000 accounts, and a user by number', () => {
    for (const [, { user, mem_limit: memory }] of own) expect([user, memory]).toEqual(['1000:1000', '768m']);
  });

  it('publishes each port once, and on this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const published = ports.map((port) => port.split(':')[1]);
    expect(new Set(published).size).toBe(published.length);
  });

  it('waits only for services that tell their health, and mounts only files that are there', () => {
    for (const [name, { depends_on: awaited = {}, volumes = [] }] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(awaited)) {
        // the image of the gateway has a health check of its own
        const tells = services[other]?.healthcheck !== undefined || services[other]?.image === 'accounts-gateway';
        expect({ name, other, condition, tells }).toEqual({ name, other, condition: 'service_healthy', tells: true });
      }
      for (const [path = ''] of volumes.map((volume) => volume.split(':'))) {
        if (path.startsWith('./')) expect({ path, there: existsSync(join(ROOT, path)) }).toEqual({ path, there: true });
      }
    }
  });

  it('gives the gateway of `egress` no way to the bank but squid', () => {
    const networks = (name: string) => services[name]?.networks ?? [];
    const { networks: known } = parse(text, { merge: true }) as { networks: Record<string, { internal?: boolean }> };
    expect(networks('egress').filter((network) => networks('sandbox').includes(network))).toEqual([]);
    const shared = networks('egress').filter((network) => networks('squid').includes(network));
    expect(shared.map((network) => known[network]?.internal)).toEqual([true]);
    expect(networks('squid')).toEqual(expect.arrayContaining([...networks('sandbox')]));
    expect(new URL(services.egress?.environment?.EGRESS_PROXY_URL ?? '').hostname).toBe('squid');
  });

  it('takes images of others by version', () => {
    expect(beside.map(([, { image }]) => image).filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line));
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

  it('is based on the very version of Node that package-lock.json has, in every step', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    expect(of('ARG')[0]).toBe(`NODE_IMAGE=node:${lock.packages['node_modules/node']?.version}-bookworm-slim`);
    expect(of('FROM').map((from) => from.split(' ')[0])).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(of('ARG')).toContain(`VERSION=${version}`);
  });

  it('its health check reads settings that there are', () => {
    const names = [...new Set([...read('Dockerfile').matchAll(/\be\.([A-Z_]+)/g)].map(([, name = '']) => name))];
    expect(names.toSorted()).toEqual(['HOST', 'PORT', 'TLS_CERT_FILE']);
    expect(names.filter((name) => !KNOWN_NAMES.includes(name))).toEqual([]);
  });
});
