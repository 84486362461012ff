import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { hasTool, onClose, startRawServer, temporaryDirectory, type ServerIdentity } from './proxies.js';
import { until } from './until.js';

const NGINX = '/usr/sbin/nginx';

/** Whether the real nginx is here; says so in one line when not, and is an error in CI. */
export function hasNginx(): boolean {
  return hasTool('nginx', existsSync(NGINX), 'apt-get install nginx-light');
}

/**
 * The real nginx with ssl_verify_client on a free port of 127.0.0.1: a token and an empty list for clients whose root is
 * `clientsPem`. Gives its port.
 */
export async function startNginx({ key, cert }: ServerIdentity, clientsPem: string): Promise<number> {
  const directory = temporaryDirectory();
  const file = (name: string) => join(directory, name);
  writeFileSync(file('key.pem'), key);
  writeFileSync(file('cert.pem'), cert);
  writeFileSync(file('clients.pem'), clientsPem);
  const free = await startRawServer();
  const { port } = free;
  await free.close();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${file(name)};`);
  writeFileSync(
    file('nginx.conf'),
    `daemon off; master_process off; pid ${file('pid')}; error_log ${file('error.log')};
    events {}
    http {
      access_log off; default_type application/json; ${paths.join(' ')}
      server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${file('cert.pem')}; ssl_certificate_key ${file('key.pem')};
        ssl_client_certificate ${file('clients.pem')}; ssl_verify_client on;
        location = /api/v1/authorizations/authorize { return 200 '{"access_token":"abc","expires_in":300}'; }
        location = /api/v1/accounts { return 200 '{"result":[],"pageInfo":{"rowCount":0}}'; }
      }
    }\n`,
  );
  const nginx = spawn(NGINX, ['-p', directory, '-c', file('nginx.conf'), '-e', file('error.log')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => nginx.once('exit', resolve));
  onClose(async () => {
    nginx.kill('SIGKILL');
    await ended;
  });
  await until(() => {
    if (nginx.exitCode !== null) throw new Error(`nginx does not start: ${readFileSync(file('error.log'), 'utf8')}`);
    return accepts(port);
  }, 10_000);
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
