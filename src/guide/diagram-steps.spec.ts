import { expect, it } from '@jest/globals';
import { toSteps } from './diagram-steps.js';

it('a sequence diagram becomes a list of its steps, one list in another for its branches', () => {
  const diagram = `sequenceDiagram
  participant App as Web <app>
  App->>G: GET /
  alt it is fresh
    G-->>App: 200: "cached"
  else it is older
    Note over G: one refresh
    loop each page
      G->>G: read
    end
  end`;
  expect(toSteps(diagram).replaceAll('\n', '')).toBe(
    '<ol><li><b>Web &lt;app&gt;</b> → <b>G</b>: GET /</li>' +
      '<li>If it is fresh<ol><li><b>G</b> → <b>Web &lt;app&gt;</b>: 200: &quot;cached&quot;</li></ol></li>' +
      '<li>Otherwise: it is older<ol><li>one refresh</li>' +
      '<li>For each page<ol><li><b>G</b>: read</li></ol></li></ol></li></ol>',
  );
});

it('a state diagram becomes a list of its transitions', () => {
  expect(toSteps('stateDiagram-v2\n  [*] --> Empty\n  Empty --> Fresh: refresh').replaceAll('\n', '')).toBe(
    '<ul><li><b>Start</b> → <b>Empty</b></li><li><b>Empty</b> → <b>Fresh</b>: refresh</li></ul>',
  );
});
