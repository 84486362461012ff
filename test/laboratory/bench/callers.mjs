import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Sends a GET. Returns the raw body, and the decompressed text. */
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

/** Opens `count` connections and keeps them open. */
export async function openConnections(url, count, headers = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  await Promise.all(Array.from({ length: count }, () => get(url, headers, { agent })));
  return agent;
}

/**
 * Makes a call every `everyMs` until `signal` aborts, without waiting for earlier responses. Latency counts from the
 * scheduled time, so a stalled server cannot hide behind callers that wait for it (coordinated omission).
 */
export async function steady(url, { everyMs, signal, headers, agent }) {
  const pending = [];
  const startedAt = performance.now();
  for (let index = 0; !signal.aborted; index++) {
    const due = startedAt + index * everyMs;
    // calls in flight at the end still get their response
    await delay(Math.max(0, due - performance.now()));
    pending.push(get(url, headers, { agent }).then(({ status }) => ({ ms: performance.now() - due, status })));
  }
  return Promise.all(pending);
}
