/** The median; the mean of the middle two for an even number of values. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The quantile `share` (0–1) of the values. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

export const whole = (value) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');
export const digits = (value, places) => value.toFixed(places);
/** The median with the first and third quartiles. */
export const spread = (values, places) =>
  `${digits(median(values), places)} (${digits(percentile(values, 0.25), places)}–${digits(percentile(values, 0.75), places)})`;

/** A Markdown table. Columns after the first are right-aligned. */
export function toTable(head, rows) {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column].length)));
  const line = (cells) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
