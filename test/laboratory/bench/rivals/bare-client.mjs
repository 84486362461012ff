// The minimum that a program must do to get the whole list: https with keep-alive, the first page for the count, the
// rest in parallel with the same concurrency, JSON.parse of each, and nothing more. Its commands come over IPC: { url,
// token, tls, pageSize, concurrent }.
import { Agent, request } from 'node:https';

let agent;

process.on('message', ({ url, token, tls, pageSize, concurrent }) => {
  agent ??= new Agent({ keepAlive: true, maxSockets: concurrent, ...tls, pfx: Buffer.from(tls.pfx, 'base64') });
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const page = (number, again = true) =>
    new Promise((resolve, reject) => {
      const address = `${url}/api/v1/accounts?PageNumber=${number}&PageSize=${pageSize}`;
      const asked = request(address, { agent, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
      });
      // the server may just have closed a kept connection
      asked.on('error', (error) => (again && asked.reusedSocket ? resolve(page(number, false)) : reject(error)));
      asked.end();
    });
  const readAll = async () => {
    const startedAt = performance.now();
    const first = await page(1);
    const last = Math.ceil(first.pageInfo.rowCount / pageSize);
    let accounts = first.result.length;
    let next = 2;
    const worker = async () => {
      while (next <= last) accounts += (await page(next++)).result.length;
    };
    await Promise.all(Array.from({ length: concurrent }, worker));
    return { ms: performance.now() - startedAt, accounts };
  };
  readAll().then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
