import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { get } from './callers.mjs';
import { createSink, freePort, has, start, startLogged, untilReady } from './processes.mjs';
import { JSON_ONLY, writeResponses } from './ready-responses.mjs';

const PATH = '/api/v1/accounts';
const place = (name) => fileURLToPath(new URL(`rivals/${name}`, import.meta.url));
/**
 * @typedef {object} Rival
 * @property {string} name
 * @property {(variant: string) => string} toUrl URL of a variant (ready-responses.mjs)
 * @property {'gateway' | 'bank'} words whose body its own must equal
 * @property {() => number[]} pids for CPU time
 * @property {(requestId: string) => Promise<object>} [lineOf] the log line of a request, if it logs like the gateway
 * @property {() => Promise<number | undefined>} stop resolves with the number of lines that it logged, if it logs
 */

/** Resolves with the rival once its `plain` URL returns 200. */
async function whenReady(program, { words = 'gateway', toUrl, ...more }) {
  await untilReady(program, () => get(toUrl('plain'), JSON_ONLY).then(({ status }) => status === 200));
  const { name, pids, lineOf, stop } = program;
  return { name, words, toUrl, pids, lineOf, stop, ...more };
}

/** Starts Nest on Fastify with a guard. It sends `responses`, and writes the log line of the gateway. */
export async function startNest({ cwd, responses, name = 'Nest on Fastify' }) {
  const port = await freePort();
  const file = join(cwd, `responses-${Date.now()}.json`);
  writeResponses(file, responses);
  const line = [process.execPath, place('nest-fastify.mjs'), String(port), file];
  const program = startLogged(name, line, { underTest: true, cwd, env: { NODE_ENV: 'production' } });
  return whenReady(program, { toUrl: (variant) => `http://127.0.0.1:${port}/${variant}` });
}

/** Starts nginx, which also listens on a second port with gzip (`gzipUrl`). */
export async function startNginx({ cwd, bank, token }) {
  if (!has('nginx')) return null;
  const directory = mkdtempSync(join(cwd, 'nginx-'));
  const { certificate, key } = bank.pem();
  const paths = { CERTIFICATE: join(directory, 'client.pem'), KEY: join(directory, 'client-key.pem') };
  writeFileSync(paths.CERTIFICATE, certificate);
  writeFileSync(paths.KEY, key);
  chmodSync(paths.KEY, 0o600);
  const [port, gzipPort] = [await freePort(), await freePort()];
  const sink = createSink(directory, 'nginx');
  const file = fill('nginx.conf.template', join(directory, 'nginx.conf'), {
    ...paths,
    DIRECTORY: directory,
    LOG: sink.path,
    USER: process.getuid() === 0 ? 'user root;' : '',
    BANK_PORT: bank.port,
    CA: bank.caFile,
    TOKEN: token,
    PORT: port,
    GZIP_PORT: gzipPort,
  });
  const line = ['nginx', '-e', 'stderr', '-p', directory, '-c', file];
  const program = start('nginx, proxy_cache', line, { underTest: true, cwd });
  return whenReady(program, {
    words: 'bank',
    toUrl: () => `http://127.0.0.1:${port}${PATH}`,
    gzipUrl: `http://127.0.0.1:${gzipPort}${PATH}`,
    stop: () => program.stop().then(sink.lines),
  });
}

/**
 * Starts rivals/bff-in-a-day.mjs with the settings of the gateway. `calls` returns the number of its calls for accounts.
 */
export async function startBffInADay({ cwd, bank }) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const line = [process.execPath, place('bff-in-a-day.mjs'), String(port)];
  const env = { NODE_ENV: 'production', ...bank.settings };
  const program = start('a BFF written in a day', line, { underTest: true, cwd, env });
  const accountsUrl = `${url}${PATH}`;
  await untilReady(program, () => get(accountsUrl, JSON_ONLY).then(({ status }) => status === 200));
  const calls = async () => JSON.parse((await get(`${url}/calls`)).text).calls;
  return { accountsUrl, calls, stop: program.stop };
}

/** Starts rivals/bare-client.mjs on the cores of the gateway. `read` returns the duration of one read, ms. */
export function startBareClient({ cwd, bank, token, onPair }) {
  const line = [process.execPath, place('bare-client.mjs')];
  const program = start('bare client', line, { underTest: true, onPair, cwd, ipc: true });
  const { ca, pfx, passphrase } = bank.tls;
  const order = { token, concurrent: CONCURRENT, url: bank.url, tls: { ca, pfx: pfx.toString('base64'), passphrase } };
  return {
    program,
    read: async (pageSize) => {
      program.child.send({ ...order, pageSize });
      const result = await Promise.race([
        new Promise((resolve) => program.child.once('message', resolve)),
        program.ended.then(() => ({ error: program.complaint() })),
      ]);
      if (result.error) throw new Error(`bare client: ${result.error}`);
      return result.ms;
    },
    stop: program.stop,
  };
}

/** The default of the gateway's BANK_MAX_CONCURRENT_REQUESTS. */
const CONCURRENT = 6;

function fill(template, target, values) {
  const text = readFileSync(place(template), 'utf8').replaceAll(/\{\{([A-Z_]+)\}\}/g, (_whole, name) => {
    if (!(name in values)) throw new Error(`${template}: no value for {{${name}}}`);
    return String(values[name]);
  });
  writeFileSync(target, text, { mode: 0o600 });
  return target;
}
