/** A Markdown table. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [header, header.map(() => '---'), ...rows].map(line).join('');
}
