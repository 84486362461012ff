/** A section that writes its bytes into the target. */
interface Source {
  readonly byteLength: number;
  copyTo(target: Uint8Array): void;
}

type View = Uint8Array | Uint32Array;
export type Section = View | Source;

/** Each section by name. `wide`: true for numbers of four bytes. Offset and length are in bytes. */
interface Directory {
  readonly header: object;
  readonly places: Readonly<Record<string, readonly [wide: boolean, offset: number, byteLength: number]>>;
}

const WORD_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** One buffer: the length of the directory, the directory as JSON, then the sections, each aligned to four bytes. */
export function pack(header: object, sections: Readonly<Record<string, Section>>): ArrayBuffer {
  const places: Record<string, readonly [boolean, number, number]> = {};
  let end = 0;
  for (const [name, section] of Object.entries(sections)) {
    places[name] = [section instanceof Uint32Array, end, section.byteLength];
    end = aligned(end + section.byteLength);
  }
  const directory = Buffer.from(JSON.stringify({ header, places } satisfies Directory));
  const start = aligned(WORD_BYTES + directory.length);
  const buffer = new ArrayBuffer(start + end);
  new Uint32Array(buffer, 0, 1)[0] = directory.length;
  new Uint8Array(buffer).set(directory, WORD_BYTES);
  for (const [name, section] of Object.entries(sections)) {
    const target = new Uint8Array(buffer, start + (places[name]?.[1] ?? 0), section.byteLength);
    if ('copyTo' in section) section.copyTo(target);
    else target.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength));
  }
  return buffer;
}

/** The header and the sections of a packed buffer, without copying. */
export function unpack(buffer: ArrayBuffer): { header: object; sections: Record<string, View> } {
  const [length = 0] = new Uint32Array(buffer, 0, 1);
  const { header, places } = JSON.parse(Buffer.from(buffer, WORD_BYTES, length).toString()) as Directory;
  const start = aligned(WORD_BYTES + length);
  const views = Object.entries(places).map(([name, [wide, offset, byteLength]]) => [
    name,
    wide
      ? new Uint32Array(buffer, start + offset, byteLength / WORD_BYTES)
      : new Uint8Array(buffer, start + offset, byteLength),
  ]);
  return { header, sections: Object.fromEntries(views) as Record<string, View> };
}

const aligned = (offset: number): number => Math.ceil(offset / WORD_BYTES) * WORD_BYTES;
