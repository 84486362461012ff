/** One value of every account in upper case, for filters that compare it without letter case. */
export interface ValueColumn {
  /** For each account where its value begins in `values`; 0 for null. */
  readonly codes: Uint32Array;
  /** Every distinct value, as one line of JSON each. */
  readonly values: Uint8Array;
}

/** The column of these values, by position. */
export function toColumn(given: readonly (string | null)[]): ValueColumn {
  const texts = given.map((text) => text && text.toUpperCase());
  const codes = new Map<string | null, number>([[null, 0]]);
  const lines = ['\n'];
  let bytes = 1;
  for (const text of new Set(texts)) {
    if (text === null) continue;
    const line = toLine(text);
    codes.set(text, bytes);
    lines.push(line);
    bytes += Buffer.byteLength(line);
  }
  return {
    codes: Uint32Array.from(texts, (text) => codes.get(text) as number),
    values: Buffer.from(lines.join('')),
  };
}

/** The code of a value; 0 when no account has it. */
export function codeOf({ values }: ValueColumn, value: string): number {
  const lines = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return lines.indexOf(`\n${toLine(value.toUpperCase())}`) + 1;
}

const toLine = (text: string): string => `${JSON.stringify(text)}\n`;
