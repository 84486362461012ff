import { escapeHtml } from './html-page.js';

/**
 * A sequence or state diagram in Mermaid's language as a list of its steps or transitions, since the pages run no script.
 * `alt` and `loop` become lists within the list.
 */
export function toSteps(diagram: string): string {
  const names = new Map([['[*]', 'Start']]);
  const nameOf = (id: string) => `<b>${escapeHtml(names.get(id) ?? id)}</b>`;
  const item = (line: string): string => {
    const [, id = '', name = ''] = /^participant (\w+) as (.+)$/.exec(line) ?? [];
    if (name) names.set(id, name);
    if (name || line.endsWith('Diagram') || line.endsWith('Diagram-v2')) return '';

    const [, from, to, text = ''] = /^(\S+?) ?--?>>? ?([^:]+)(?:: (.+))?$/.exec(line) ?? [];
    if (from && to) {
      const arrow = from === to ? nameOf(from) : `${nameOf(from)} → ${nameOf(to)}`;
      return `<li>${arrow}${text && `: ${escapeHtml(text)}`}</li>\n`;
    }
    const [, word = '', rest = ''] = /^(\w+) ?(.*)$/.exec(line) ?? [];
    if (word === 'end') return '</ol></li>\n';
    const condition = { alt: 'If', loop: 'For', else: 'Otherwise:' }[word];
    if (condition) return `${word === 'else' ? '</ol></li>\n' : ''}<li>${condition} ${escapeHtml(rest)}\n<ol>\n`;
    return `<li>${escapeHtml(rest.replace(/^over [^:]+: /, ''))}</li>\n`;
  };
  const lines = diagram.split('\n').map((line) => line.trim());
  const list = diagram.startsWith('state') ? 'ul' : 'ol';
  return `<${list}>\n${lines.map(item).join('')}</${list}>\n`;
}
