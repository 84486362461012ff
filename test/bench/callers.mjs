import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** One GET; the body as sent, and as text after decompression. */
export function get(url, headers = {}, options = {}) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const startedAt = performance.now();
  request(url, { headers, agent: false, ...options }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const ms = performance.now() - startedAt;
      const body = Buffer.concat(chunks);
      const { statusCode: status, headers, rawHeaders } = response;
      resolve({ status, headers, rawHeaders, body, ms, text: decode(body, headers['content-encoding']) });
    });
  })
    .on('error', reject)
    .end();
  return promise;
}

function decode(body, encoding) {
  const plain = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
  return plain.toString('utf8');
}

/**
 * `count` callers at the same moment, each on a new connection, which is opened first thing. Written on bare
 * sockets, so that the callers' own work does not count as the server's. Milliseconds to the last byte, and the texts.
 */
export function burst(port, path, count) {
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`;
  const startedAt = performance.now();
  const one = () =>
    new Promise((resolve, reject) => {
      const chunks = [];
      let lastAt = 0;
      const socket = connect(port, '127.0.0.1', () => socket.write(head));
      socket.on('data', (chunk) => {
        lastAt = performance.now();
        chunks.push(chunk);
      });
      socket.on('error', reject);
      socket.on('close', () => resolve({ ms: lastAt - startedAt, answer: Buffer.concat(chunks) }));
    });
  return Promise.all(Array.from({ length: count }, one)).then((all) =>
    all.map(({ ms, answer }) => {
      const text = answer.toString('utf8');
      const end = text.indexOf('\r\n\r\n');
      return { ms, status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
    }),
  );
}

/** `count` connections, open and kept. */
export async function openConnections(url, count, headers = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  await Promise.all(Array.from({ length: count }, () => get(url, headers, { agent })));
  return agent;
}

/**
 * Callers who come at even distances whether or not the ones before have their answers, until `count` have come or
 * `signal` says enough; on the connections of `agent`, without one each on a new connection. Each is timed from the moment
 * at which they were due, so that a server that stands still is not spared by callers that wait for it; `lateMs` is how
 * much of that they were late themselves.
 */
export async function steady(url, { everyMs, count = Infinity, signal, headers = {}, agent = false }) {
  const results = [];
  const pending = [];
  const startedAt = performance.now();
  const enough = () => signal?.aborted ?? false;
  for (let index = 0; index < count && !enough(); index++) {
    const due = startedAt + index * everyMs;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    const lateMs = performance.now() - due;
    pending.push(
      get(url, headers, { agent }).then(({ status }) =>
        results.push({ due, lateMs, ms: performance.now() - due, status }),
      ),
    );
  }
  await Promise.all(pending);
  return results;
}
