import { escapeHtml } from './escape-html.js';

const COLUMN = 190;
const ROW = 36;
const HEAD = 44;
const BOX = { width: 170, height: 28 };

/**
 * Draws the diagrams of the documents, which are written as Mermaid, as SVG: `sequenceDiagram` with participants, messages, notes,
 * alt and loop; `stateDiagram-v2` as one transition a row. Null for anything else.
 */
export function drawDiagram(source: string): string | null {
  const [kind, ...lines] = source.split('\n').map((line) => line.trim());
  if (kind === 'sequenceDiagram') return drawSequence(lines);
  if (kind === 'stateDiagram-v2') return drawStates(lines);
  return null;
}

function drawSequence(lines: readonly string[]): string {
  const names = new Map<string, string>();
  const rows: string[] = [];
  let depth = 0;
  for (const line of lines) {
    const [, id, name] = /^participant (\w+)(?: as (.*))?$/.exec(line) ?? [];
    const [, from, dashes, to, text = ''] = /^(\w+)(--?)>>(\w+): (.*)$/.exec(line) ?? [];
    const [, word, label = ''] = /^(alt|else|loop|Note over [\w,]+:?) ?(.*)$/.exec(line) ?? [];
    const y = HEAD + rows.length * ROW + 24;
    if (id !== undefined) names.set(id, name ?? id);
    else if (from !== undefined && to !== undefined) {
      const columns = [...names.keys()];
      rows.push(drawMessage(toX(columns.indexOf(from)), toX(columns.indexOf(to)), y, text, dashes === '--'));
    } else if (word !== undefined) {
      if (word === 'alt' || word === 'loop') depth += 1;
      const prefix = { alt: 'if ', else: 'else ', loop: 'for ' }[word] ?? '';
      const x = 4 + 12 * (prefix === '' ? depth + 1 : depth);
      rows.push(`<text class="note" x="${x}" y="${y}">${escapeHtml(prefix + label.replace(/^: /, ''))}</text>`);
    } else if (line === 'end') depth -= 1;
  }
  const width = names.size * COLUMN;
  const height = HEAD + rows.length * ROW + 10;
  const columns = [...names.values()].map((name, index) => {
    const x = toX(index);
    return `<line class="life" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${height}"/>${box(x, 20, name)}`;
  });
  return toSvg(width, height, [...columns, ...rows]);
}

/** An arrow between two columns with a text over it. */
function drawMessage(from: number, to: number, y: number, message: string, dashed: boolean): string {
  const text = `<text x="${Math.min(from, to) + 8}" y="${y - 6}">${escapeHtml(message)}</text>`;
  // a message to itself
  if (from === to) return `${text}<circle class="head" cx="${from}" cy="${y - 10}" r="3"/>`;
  return `<line class="${dashed ? 'answer' : 'call'}" x1="${from}" x2="${to}" y1="${y}" y2="${y}"/>${arrowHead(from, to, y)}${text}`;
}

/** One transition a row. A start is a dot. */
function drawStates(lines: readonly string[]): string {
  const transitions = lines.flatMap((line) => {
    const [, from, to, text = ''] = /^(\S+) --> (\w+)(?:: (.*))?$/.exec(line) ?? [];
    return from === undefined || to === undefined ? [] : [{ from, to, text }];
  });
  const [left, right] = [toX(0), toX(0) + 640];
  const rows = transitions.map(({ from, to, text }, index) => {
    const y = 24 + index * ROW;
    const start = from === '[*]' ? `<circle class="head" cx="${left}" cy="${y}" r="6"/>` : box(left, y, from);
    const [x1, x2] = [left + BOX.width / 2, right - BOX.width / 2];
    const label = `<text x="${x1 + 10}" y="${y - 5}">${escapeHtml(text)}</text>`;
    return `${start}<line class="call" x1="${x1}" x2="${x2}" y1="${y}" y2="${y}"/>${arrowHead(x1, x2, y)}${label}${box(right, y, to)}`;
  });
  return toSvg(right + COLUMN / 2, transitions.length * ROW + 16, rows);
}

const toX = (column: number): number => COLUMN / 2 + column * COLUMN;

function box(x: number, y: number, text: string): string {
  const { width, height } = BOX;
  return `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="6"/><text class="name" x="${x}" y="${y + 4}">${escapeHtml(text)}</text>`;
}

function arrowHead(from: number, to: number, y: number): string {
  const back = to > from ? -8 : 8;
  return `<path class="head" d="M${to} ${y}l${back} -4v8z"/>`;
}

function toSvg(width: number, height: number, parts: readonly string[]): string {
  return `<div class="scroll" tabindex="0"><svg class="diagram" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Diagram of the text around it">${parts.join('')}</svg></div>\n`;
}
