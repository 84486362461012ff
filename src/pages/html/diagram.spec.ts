import { describe, expect, it } from '@jest/globals';
import { documentPaths, readDocument } from '../../../test/support/documents.js';
import { drawDiagram } from './diagram.js';

describe('a diagram', () => {
  it('has a column for each participant and an arrow for each message of a sequence', () => {
    const svg = drawDiagram(
      'sequenceDiagram\n  participant A as <App>\n  participant B\n  A->>B: GET /\n  alt it works\n  B-->>A: 200\n  end',
    );
    expect(svg?.match(/class="life"/g)).toHaveLength(2);
    expect(svg).toContain('&lt;App&gt;');
    expect(svg).toContain('class="call"');
    expect(svg).toContain('class="answer"');
    expect(svg).toContain('>if it works<');
    expect(svg).not.toContain('style=');
  });

  it('has a row for each transition of a state diagram', () => {
    const svg = drawDiagram('stateDiagram-v2\n  [*] --> Empty\n  Empty --> Fresh: refresh');
    expect(svg?.match(/<path class="head"/g)).toHaveLength(2);
    expect(svg).toContain('>refresh<');
  });

  it('is null for any other kind', () => {
    expect(drawDiagram('pie\n  "a": 1')).toBeNull();
  });

  it('is drawn for every diagram in docs/', () => {
    const sources = documentPaths().flatMap((path) => [...readDocument(path).matchAll(/```mermaid\n(.*?)\n```/gs)]);
    expect(sources.length).toBeGreaterThan(0);
    for (const [, source = ''] of sources) expect(drawDiagram(source)).toMatch(/<path class="head"/);
  });
});
