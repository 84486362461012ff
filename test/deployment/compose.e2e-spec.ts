import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { warnOfNode } from '../../src/cli/node-floor.js';
import { read } from '../support/documents.js';
import { settingErrors } from './setting-errors.js';

interface Service {
  readonly image: string;
  readonly networks: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Record<string, string>;
  readonly ports?: readonly string[];
}
interface Compose {
  readonly services: Record<string, Service>;
  readonly networks: Record<string, { readonly internal?: boolean; readonly driver_opts?: Record<string, string> }>;
}

/** The file as compose reads it: with merge keys and the defaults of ${NAME:-default}. */
function readCompose(text: string): Compose {
  return parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as Compose;
}

function errorsOf({ command = [], environment = {} }: Service): string[] {
  return settingErrors(environment, command.includes('sandbox'));
}

/** `.ci/compose` tests everything that needs a running engine. */
describe('docker-compose.yml', () => {
  const text = read('docker-compose.yml');
  const { services, networks } = readCompose(text);
  const all = Object.values(services);

  it('has settings that the program accepts', () => {
    const own = all.filter(({ image }) => image === 'accounts-gateway');
    expect(own.map(errorsOf)).toEqual(own.map(() => []));
  });

  it.each([
    ['a misspelled name', 'ALLOWED_CLIENTS:', 'ALLOWED_CLIENT:', 'ALLOWED_CLIENT'],
    ['a value that is rejected', "PORT: '3000'", "PORT: 'three'", 'PORT'],
    ['a missing one', /^ +BANK_USERNAME_FILE:.*\n/m, '', 'BANK_USERNAME'],
  ])('the negative case: finds %s', (_name, from, to, error) => {
    const { gateway } = readCompose(text.replace(from, to)).services;
    expect(errorsOf(gateway as Service).some((each) => each.startsWith(error))).toBe(true);
  });

  it('publishes each port once, on 127.0.0.1 only', () => {
    const ports = all.flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(new Set(ports.map((port) => port.split(':')[1])).size).toBe(ports.length);
  });

  it('gives the gateway of profile egress only a route through squid', () => {
    expect(services['egress']?.networks).toEqual(['inside', 'callers']);
    expect(networks['inside']?.internal).toBe(true);
    expect(Object.entries(networks['callers']?.driver_opts ?? {})).toEqual([
      ['com.docker.network.bridge.enable_ip_masquerade', 'false'],
    ]);
    const inside = Object.keys(services).filter((name) => services[name]?.networks.includes('inside'));
    expect(inside).toEqual(['egress', 'squid']);
  });

  it('pins the versions of third-party images', () => {
    const foreign = all.map(({ image }) => image).filter((image) => image !== 'accounts-gateway');
    expect(foreign.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const text = read('Dockerfile');

  it('ships one pinned Node without known vulnerabilities, on a Debian with regular support', () => {
    const images = [...text.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, image]) => image ?? '');
    expect(new Set(images).size).toBe(1);
    const version = /^node:(\d+\.\d+\.\d+)-trixie-slim$/.exec(images[0] ?? '')?.[1] ?? '';
    expect(warnOfNode(version)).toEqual([]);
  });

  it('runs nothing on the target architecture, so that every machine can build all images', () => {
    expect(text.slice(text.lastIndexOf('\nFROM '))).not.toMatch(/^RUN /m);
  });

  it('has the version in package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(/^ARG VERSION=(.+)$/m.exec(text)?.[1]).toBe(version);
  });
});
