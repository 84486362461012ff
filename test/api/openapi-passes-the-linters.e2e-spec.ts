import { beforeAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';

const { Ruleset, Spectral } = spectralCore;

let source: string;
beforeAll(async () => {
  const gateway = await startGateway(await start());
  source = (await gateway.get('/openapi.json')).text;
});

async function redocly(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, config, absoluteRef: 'openapi.json' });
  return problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`);
}

async function spectral(text: string): Promise<string[]> {
  const linter = new Spectral();
  linter.setRuleset(new Ruleset({ extends: [[spectralRulesets.oas, 'recommended']] }));
  const problems = await linter.run(JSON.parse(text) as Record<string, unknown>);
  return problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`);
}

describe('the OpenAPI document passes the recommended rules without exceptions', () => {
  it.each([
    ['redocly', redocly],
    ['spectral', spectral],
  ])('of %s', async (_name, lint) => {
    expect(await lint(source)).toEqual([]);
  });

  it.each([
    ['redocly', redocly, 'operation-summary'],
    ['spectral', spectral, 'operation-description'],
  ])('its twin: what is missing is found by %s', async (_name, lint, rule) => {
    const altered = JSON.parse(source) as { paths: Record<string, { get: Record<string, unknown> }> };
    altered.paths['/health'] = {
      get: { ...altered.paths['/health']?.get, summary: undefined, description: undefined },
    };
    expect((await lint(JSON.stringify(altered))).map((each) => each.split(':')[0])).toEqual([rule]);
  });
});
