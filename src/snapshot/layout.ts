/** Numbers and bytes that lie in a snapshot, each under a name. */
export type Section = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
type KindName = keyof typeof KINDS;

/** Of the layout; what was written by another version is not read. */
export const MAGIC = 0x41475331;
const PREAMBLE_BYTES = 8;
const ALIGNMENT = 8;

interface Directory<H> {
  readonly header: H;
  readonly sections: Readonly<Record<string, readonly [kind: KindName, offset: number, length: number]>>;
}

/** Bytes that are no snapshot of this version, or only a part of one. */
export class LayoutUnreadable extends Error {}

/** A section that is written into its place, so that it need not exist twice. */
export interface Writable {
  readonly byteLength: number;
  /** @param written a section that stands before it */
  writeInto(place: Uint8Array, written: (name: string) => Uint8Array): void;
}

/** One buffer: magic, length of the directory, directory as JSON, then the sections, each aligned for its kind. */
export function pack(header: object, sections: Readonly<Record<string, Section | Writable>>): ArrayBuffer {
  const places: Record<string, readonly [KindName, number, number]> = {};
  let offset = 0;
  for (const [name, section] of Object.entries(sections)) {
    const kind = 'writeInto' in section ? 'u8' : kindOf(section);
    places[name] = [kind, offset, 'writeInto' in section ? section.byteLength : section.length];
    offset = aligned(offset + section.byteLength);
  }
  const directory = new TextEncoder().encode(JSON.stringify({ header, sections: places }));
  const start = aligned(PREAMBLE_BYTES + directory.length);
  const buffer = new ArrayBuffer(start + offset);
  new Uint32Array(buffer, 0, 2).set([MAGIC, directory.length]);
  new Uint8Array(buffer).set(directory, PREAMBLE_BYTES);
  const placeOf = (name: string) =>
    new Uint8Array(buffer, start + (places[name]?.[1] ?? 0), sections[name]?.byteLength ?? 0);
  for (const [name, section] of Object.entries(sections)) {
    const place = placeOf(name);
    if ('writeInto' in section) section.writeInto(place, placeOf);
    else place.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength));
  }
  return buffer;
}

/** The header and the sections, without copying. @throws LayoutUnreadable */
export function unpack<H, S extends Readonly<Record<string, KindName>>>(
  buffer: ArrayBuffer,
  kinds: S,
): { readonly header: H; readonly sections: { readonly [K in keyof S]: InstanceType<(typeof KINDS)[S[K]]> } } {
  const { header, sections, start } = readDirectory<H>(buffer);
  const views: Record<string, Section> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const [found, offset, length] = sections[name] ?? [];
    const View = KINDS[kind];
    if (found !== kind || start + (offset ?? 0) + (length ?? 0) * View.BYTES_PER_ELEMENT > buffer.byteLength) {
      throw new LayoutUnreadable(`the section ${name} is missing or cut off`);
    }
    views[name] = new View(buffer, start + (offset ?? 0), length);
  }
  return { header, sections: views as ReturnType<typeof unpack<H, S>>['sections'] };
}

function readDirectory<H>(buffer: ArrayBuffer): Directory<H> & { readonly start: number } {
  if (buffer.byteLength < PREAMBLE_BYTES) throw new LayoutUnreadable('it is too short');
  const [magic, length = 0] = new Uint32Array(buffer, 0, 2);
  if (magic !== MAGIC) throw new LayoutUnreadable('it is no snapshot of this version');
  if (PREAMBLE_BYTES + length > buffer.byteLength) throw new LayoutUnreadable('its directory is cut off');
  try {
    const text = new TextDecoder().decode(new Uint8Array(buffer, PREAMBLE_BYTES, length));
    return { ...(JSON.parse(text) as Directory<H>), start: aligned(PREAMBLE_BYTES + length) };
  } catch (error) {
    throw new LayoutUnreadable('its directory cannot be read', { cause: error });
  }
}

const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

function kindOf(section: Section): KindName {
  if (section instanceof Float64Array) return 'f64';
  if (section instanceof Uint32Array) return 'u32';
  return section instanceof Uint16Array ? 'u16' : 'u8';
}
