import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerIdentity } from './authority.js';
import { temporaryDirectory } from './closing.js';
import { closedPort } from './servers.js';
import { startTool } from './tools.js';

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
  const port = await closedPort();
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
  await startTool('nginx', ['-p', directory, '-c', file('nginx.conf'), '-e', file('error.log')], port);
  return port;
}
