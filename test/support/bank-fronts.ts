import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerIdentity } from './authority.js';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { has, startTool } from './tools.js';

/** TLS versions that a front can be limited to. */
type Limit = 'TLS 1.1' | 'TLS 1.2' | 'TLS 1.3';

interface Front {
  readonly port: number;
  /** The port of the plain HTTP server behind it. */
  readonly backend: number;
  /** Path of a new file with this text. */
  readonly write: (name: string, text: string) => string;
  readonly key: string;
  readonly cert: string;
  readonly clients: string;
  readonly limit: Limit | undefined;
}

const versionOf = (limit: Limit | undefined) => limit?.slice(4);

const haproxy = (mode: 'http' | 'tcp') => (front: Front) => {
  const { port, backend, write, key, cert, clients, limit } = front;
  const pem = write('both.pem', key + cert);
  const versions = limit ? `ssl-min-ver TLSv${versionOf(limit)} ssl-max-ver TLSv${versionOf(limit)}` : '';
  const config = `defaults
  mode ${mode}
  retries 0
  timeout connect 1s
  timeout client 10s
  timeout server 10s
frontend bank
  bind 127.0.0.1:${port} ssl crt ${pem} ca-file ${write('clients.pem', clients)} verify required ${versions}
  default_backend behind
backend behind
  server one 127.0.0.1:${backend}\n`;
  return ['-db', '-f', write('haproxy.cfg', config)];
};

/**
 * Real servers that terminate TLS in front of a bank, and require a client certificate. nginx, gnutls-serv and openssl
 * respond themselves; the others forward to the server behind them.
 */
export const FRONTS = {
  nginx: {
    program: 'nginx',
    args: ({ port, write, key, cert, clients, limit }: Front) => {
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${write(`${name}.unused`, '')}.d;`,
      );
      const config = `daemon off; master_process off; pid ${write('pid', '')}; error_log stderr;
      events {}
      http {
        access_log off; default_type application/json; ${paths.join(' ')}
        server {
          listen 127.0.0.1:${port} ssl; ${limit ? `ssl_protocols TLSv${versionOf(limit)};` : ''}
          ssl_certificate ${write('cert.pem', cert)}; ssl_certificate_key ${write('key.pem', key)};
          ssl_client_certificate ${write('clients.pem', clients)}; ssl_verify_client on;
          location / { return 200 '{}'; }
        }
      }\n`;
      return ['-c', write('nginx.conf', config), '-e', 'stderr'];
    },
  },
  'haproxy (HTTP)': { program: 'haproxy', args: haproxy('http') },
  'haproxy (TCP)': { program: 'haproxy', args: haproxy('tcp') },
  stunnel: {
    program: 'stunnel',
    args: ({ port, backend, write, key, cert, clients, limit }: Front) => {
      const version = limit ? `sslVersion = TLSv${versionOf(limit)}\n` : '';
      const config = `foreground = yes
pid =
[bank]
accept = 127.0.0.1:${port}
connect = 127.0.0.1:${backend}
cert = ${write('cert.pem', cert)}
key = ${write('key.pem', key)}
CAfile = ${write('clients.pem', clients)}
verifyChain = yes
${version}`;
      return [write('stunnel.conf', config)];
    },
  },
  gnutls: {
    program: 'gnutls-serv',
    args: ({ port, write, key, cert, clients, limit }: Front) => [
      '--http',
      '--quiet',
      '--port',
      String(port),
      '--require-client-cert',
      '--verify-client-cert',
      '--x509keyfile',
      write('key.pem', key),
      '--x509certfile',
      write('cert.pem', cert),
      '--x509cafile',
      write('clients.pem', clients),
      ...(limit ? ['--priority', `NORMAL:-VERS-ALL:+VERS-TLS${versionOf(limit)}`] : []),
    ],
  },
  openssl: {
    program: 'openssl',
    args: ({ port, write, key, cert, clients, limit }: Front) => [
      's_server',
      '-quiet',
      '-www',
      '-accept',
      `127.0.0.1:${port}`,
      '-key',
      write('key.pem', key),
      '-cert',
      write('cert.pem', cert),
      '-CAfile',
      write('clients.pem', clients),
      '-Verify',
      '3',
      '-verify_return_error',
      ...(limit ? [`-tls${versionOf(limit)?.replace('.', '_')}`, '-cipher', 'ALL:@SECLEVEL=0'] : []),
    ],
  },
} as const;
export type FrontName = keyof typeof FRONTS;

export const hasFront = (name: FrontName): boolean => has(FRONTS[name].program);

/** Starts a front on a free port that accepts clients of the CAs in `clients`. Returns its port. */
export async function startFront(
  name: FrontName,
  { key, cert }: ServerIdentity,
  clients: string,
  { backend = 1, limit }: { readonly backend?: number; readonly limit?: Limit } = {},
): Promise<number> {
  const directory = temporaryDirectory();
  const write = (file: string, text: string) => {
    const path = join(directory, file);
    writeFileSync(path, text);
    return path;
  };
  const port = await closedPort();
  const { program, args } = FRONTS[name];
  await startTool(program, args({ port, backend, write, key, cert, clients, limit }), port);
  return port;
}
