import { afterAll, describe, expect, it } from '@jest/globals';
import { ENDPOINTS, FAULTS } from '../../src/sandbox/faults.js';
import { coded, readDocument, rowsUnder, withoutRow } from '../support/documents.js';
import { cleanUp, start } from '../support/sandbox.js';

const document = readDocument('docs/sandbox.md');
const rows = (text: string) =>
  new Map(rowsUnder(text, 'switch', 'value').map(([name, value = '']) => [coded(name).join(), value]));

afterAll(cleanUp);

async function patch(controlUrl: string, body: string) {
  const answer = await fetch(`${controlUrl}/control`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  return { status: answer.status, json: (await answer.json()) as { allowed?: string[] } };
}

describe('the switches in docs/sandbox.md', () => {
  it('are those that the sandbox has, with values that it takes', async () => {
    const { controlUrl } = await start();
    const { allowed = [] } = (await patch(controlUrl, '{"noSuchSwitch":1}')).json;
    expect([...rows(document).keys()].toSorted()).toEqual(allowed.toSorted());
    for (const [name, value] of rows(document)) {
      if (name === 'failNext') continue;
      const { status } = await patch(controlUrl, `{"${name}":${coded(value).join()}}`);
      expect({ name, status }).toEqual({ name, status: 200 });
    }
    for (const [, body = ''] of document.matchAll(/-d '([^']+)'/g)) {
      expect({ body, status: (await patch(controlUrl, body)).status }).toEqual({ body, status: 200 });
    }
  });

  it('name every endpoint and fault of failNext', () => {
    const words = coded(rows(document).get('failNext'));
    expect([...ENDPOINTS, ...FAULTS].filter((word) => !words.includes(word))).toEqual([]);
  });

  it('its twin: a switch without its row is found', () => {
    expect([...rows(withoutRow(document, '`movement`')).keys()]).not.toContain('movement');
  });
});
