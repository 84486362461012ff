import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { prepareGateway } from '../support/gateway.js';
import { cleanUp, makeDirectory, start } from '../support/sandbox.js';

const CLIENT = join(import.meta.dirname, '../../client');
const COMMITTED = join(CLIENT, 'src/generated');

/** The document as the app serves it, without a listening server. */
async function readOpenApi(): Promise<string> {
  const { app } = await prepareGateway(await start());
  await app.init();
  const document = await askInside(app, '/openapi.json');
  await app.close();
  return document;
}

async function askInside(app: NestFastifyApplication, url: string): Promise<string> {
  const answer = await app.inject({ url, headers: { host: 'localhost' } });
  if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${answer.payload}`);
  return answer.payload;
}

/** What the pinned generator makes of a document, into a directory of its own. */
function generate(document: string): string {
  const directory = makeDirectory();
  const input = join(directory, 'openapi.json');
  const output = join(directory, 'generated');
  writeFileSync(input, document);
  execFileSync(process.execPath, [join(CLIENT, 'generate-types.js'), input, output]);
  return output;
}

const filesIn = (directory: string): Record<string, string> =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));

let document: string;
beforeAll(async () => {
  document = await readOpenApi();
  if (process.env['WRITE_TYPES']) {
    rmSync(COMMITTED, { recursive: true, force: true });
    cpSync(generate(document), COMMITTED, { recursive: true });
  }
}, 60_000);
afterAll(cleanUp);

describe('the types of the client', () => {
  it('are what the generator makes of the OpenAPI document (npm run client:types writes them)', () => {
    expect(filesIn(COMMITTED)).toEqual(filesIn(generate(document)));
  });

  it('their twin: a field that was added to the document is found', () => {
    const altered = document.replace('"intraDay":', '"intraDayBooked":{"type":"string"},"intraDay":');
    expect(altered).not.toBe(document);
    expect(filesIn(generate(altered))).not.toEqual(filesIn(COMMITTED));
  });
});
