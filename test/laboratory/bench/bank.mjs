import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import forge from 'node-forge';
import { get } from './callers.mjs';
import { freePort, start, untilReady } from './processes.mjs';

const ACCOUNTS = '/api/v1/accounts';

/** Runs the sandbox bank (`node dist/main.js sandbox`) as a separate process, and controls its switches. */
export async function startBank({ root, cwd }) {
  const [port, controlPort] = [await freePort(), await freePort()];
  const directory = join(cwd, 'identity');
  const program = start('sandbox bank', [process.execPath, join(root, 'dist/main.js'), 'sandbox'], {
    cwd,
    // the callers that we time share its core
    yields: true,
    env: {
      SANDBOX_PORT: String(port),
      SANDBOX_CONTROL_PORT: String(controlPort),
      SANDBOX_DIRECTORY: directory,
    },
  });
  const controlUrl = `http://127.0.0.1:${controlPort}/control`;
  await untilReady(program, () => get(controlUrl).then(({ status }) => status === 200));
  const file = (name) => join(directory, name);
  const read = (name) => readFileSync(file(name), 'utf8').trim();
  const tls = {
    ca: read('ca.pem'),
    pfx: readFileSync(file('client.pfx')),
    passphrase: read('passcode'),
  };
  const bank = {
    program,
    port,
    url: `https://127.0.0.1:${port}`,
    tls,
    controlUrl,
    caFile: file('ca.pem'),
    /** Client certificate and key, for rivals that cannot read PKCS#12. */
    pem: () => toPem(tls),
    /** The settings an operator would write to point the gateway at this bank. */
    settings: {
      BANK_BASE_URL: `https://127.0.0.1:${port}`,
      BANK_USERNAME_FILE: file('username'),
      BANK_PASSWORD_FILE: file('password'),
      BANK_PFX_FILE: file('client.pfx'),
      BANK_PFX_PASSCODE_FILE: file('passcode'),
      BANK_CA_FILE: file('ca.pem'),
    },
    state: async () => JSON.parse((await get(controlUrl)).text),
    /** Resets all switches. */
    reset: async () => {
      const response = await fetch(controlUrl, { method: 'DELETE' });
      if (!response.ok) throw new Error(`the sandbox rejected a reset: ${await response.text()}`);
    },
    set: async (switches) => {
      const response = await fetch(controlUrl, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(switches),
      });
      if (!response.ok) throw new Error(`the sandbox rejected ${JSON.stringify(switches)}: ${await response.text()}`);
    },
    /** Requests a token, as an operator would with curl, valid for `seconds`. */
    getToken: async (seconds) => {
      await bank.set({ tokenLifetimeSeconds: seconds });
      const basic = Buffer.from(`${read('username')}:${read('password')}`).toString('base64');
      const headers = { 'content-type': 'application/json', authorization: `Basic ${basic}` };
      const response = await call(`${bank.url}/api/v1/authorizations/authorize`, headers, tls);
      await bank.set({ tokenLifetimeSeconds: 300 });
      return JSON.parse(response).access_token;
    },
    /** The bank's raw response, for comparison. */
    list: (token, query) =>
      call(`${bank.url}${ACCOUNTS}?${query}`, { accept: 'application/json', authorization: `Bearer ${token}` }, tls),
  };
  return bank;
}

function call(url, headers, tls) {
  const { promise, resolve, reject } = Promise.withResolvers();
  request(url, { headers, agent: false, ...tls }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`the sandbox returned ${response.statusCode} at ${url}`));
    });
  })
    .on('error', reject)
    .end();
  return promise;
}

function toPem({ pfx, passphrase }) {
  const asn1 = forge.asn1.fromDer(pfx.toString('binary'));
  const file = forge.pkcs12.pkcs12FromAsn1(asn1, passphrase);
  const bags = file.safeContents.flatMap(({ safeBags }) => safeBags);
  const certificates = bags.filter(({ cert }) => cert).map(({ cert }) => forge.pki.certificateToPem(cert));
  const keys = bags.filter(({ key }) => key).map(({ key }) => forge.pki.privateKeyToPem(key));
  return { certificate: certificates.join(''), key: keys.join('') };
}
