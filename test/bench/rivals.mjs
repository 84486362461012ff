import { chmodSync, closeSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { get } from './callers.mjs';
import { createSink, freePort, has, start, untilReady } from './processes.mjs';

const PATH = '/api/v1/accounts';
const place = (name) => fileURLToPath(new URL(`rivals/${name}`, import.meta.url));
const require = createRequire(import.meta.url);

const installed = (name) => {
  try {
    require.resolve(name);
    return true;
  } catch (error) {
    // there, but not for require()
    return error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
};

/**
 * @typedef {object} Rival
 * @property {string} name
 * @property {string} url where its list of accounts is
 * @property {'gateway' | 'bank'} words whose answer its body must equal
 * @property {() => number[]} pids for CPU time
 * @property {() => Promise<number | null>} stop gives how many log lines it wrote; null where it writes none
 */

/** Bare node:http with the three answers that the gateway gave. */
export async function startBare({ cwd, answers, log = false }) {
  const port = await freePort();
  const file = join(cwd, `answers-${port}.json`);
  writeFileSync(file, JSON.stringify(answers));
  const name = log ? 'bare node:http, with the log line' : 'bare node:http';
  const sink = log ? createSink(cwd, 'bare') : null;
  const stdout = sink?.open();
  const args = [process.execPath, place('bare-node.mjs'), String(port), file, ...(log ? ['log'] : [])];
  const program = start(name, args, {
    underTest: true,
    cwd,
    env: { NODE_ENV: 'production' },
    ...(sink && { stdout }),
  });
  if (sink) closeSync(stdout);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(program, () => get(url));
  return {
    name,
    url: `${url}/identity`,
    compressedUrl: `${url}/compressed`,
    notModifiedUrl: `${url}/not-modified`,
    words: 'gateway',
    pids: program.pids,
    stop: async () => {
      await program.stop();
      return sink ? sink.lines() : null;
    },
  };
}

export async function startNestExpress({ cwd, answer }) {
  if (!installed('@nestjs/platform-express')) return null;
  const port = await freePort();
  const file = join(cwd, 'objects.json');
  writeFileSync(file, answer);
  return startNode(
    'Nest on Express, objects',
    { cwd, port, args: ['nest-express.mjs', String(port), file] },
    'gateway',
  );
}

export async function startHttpProxy({ cwd, bank, token }) {
  if (!installed('@fastify/http-proxy')) return null;
  const port = await freePort();
  const { ca, pfx, passphrase } = bank.tls;
  const given = JSON.stringify({ url: bank.url, token, tls: { ca, pfx: pfx.toString('base64'), passphrase } });
  return startNode('@fastify/http-proxy', { cwd, port, args: ['fastify-http-proxy.mjs', String(port), given] }, 'bank');
}

async function startNode(name, { cwd, port, args: [file, ...args] }, words) {
  const program = start(name, [process.execPath, place(file), ...args], {
    underTest: true,
    cwd,
    env: { NODE_ENV: 'production' },
  });
  const url = `http://127.0.0.1:${port}${PATH}`;
  await untilReady(program, () => get(url, { accept: 'application/json' }).then(({ status }) => status === 200));
  return { name, url, words, pids: program.pids, stop: () => program.stop().then(() => null) };
}

/** nginx, and the same nginx on a second port with gzip. */
export async function startNginx({ cwd, bank, token }) {
  if (!has('nginx')) return null;
  const directory = join(cwd, 'nginx');
  mkdirSync(directory);
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
  const program = start('nginx', ['nginx', '-e', 'stderr', '-p', directory, '-c', file], { underTest: true, cwd });
  const url = `http://127.0.0.1:${port}${PATH}`;
  await untilReady(program, () => get(url).then(({ status }) => status === 200));
  return {
    name: 'nginx, proxy_cache',
    url,
    gzipUrl: `http://127.0.0.1:${gzipPort}${PATH}`,
    words: 'bank',
    pids: program.pids,
    stop: async () => {
      await program.stop();
      return sink.lines();
    },
  };
}

/** Varnish in front of a gateway. */
export async function startVarnish({ cwd, gateway }) {
  if (!has('varnishd')) return null;
  const directory = join(cwd, 'varnish');
  mkdirSync(directory);
  const port = await freePort();
  const file = fill('varnish.vcl.template', join(directory, 'gateway.vcl'), { GATEWAY_PORT: gateway.port });
  const program = start(
    'Varnish',
    'varnishd -F -j none -T none -s malloc,64m -p http_gzip_support=off -p thread_pools=1 -p thread_pool_min=50'
      .split(' ')
      .concat('-n', join(directory, 'work'), '-f', file, '-a', `127.0.0.1:${port}`),
    { underTest: true, cwd },
  );
  const url = `http://127.0.0.1:${port}${PATH}`;
  await untilReady(program, () => get(url, { accept: 'application/json' }).then(({ status }) => status === 200));
  return {
    name: 'Varnish before the gateway',
    url,
    words: 'gateway',
    pids: program.pids,
    stop: () => program.stop().then(() => null),
  };
}

function fill(template, target, values) {
  const text = readFileSync(place(template), 'utf8').replaceAll(/\{\{([A-Z_]+)\}\}/g, (_whole, name) => {
    if (!(name in values)) throw new Error(`${template}: nothing for {{${name}}}`);
    return String(values[name]);
  });
  writeFileSync(target, text, { mode: 0o600 });
  return target;
}
