// The least a program must do to read the whole list: https with keep-alive, page 1 for the count, the other pages in
// parallel with the same concurrency as the gateway, and JSON.parse of each. Receives commands over IPC: { url, token,
// tls, pageSize, concurrent }.
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
      // the server may have closed the kept connection at this moment
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
