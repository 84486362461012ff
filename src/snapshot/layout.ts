import { toOffsets, writeTexts } from './bytes.js';

/** Numbers and bytes that lie in a snapshot, each under a name. */
export type Section = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
type KindName = keyof typeof KINDS;

/** Version of the layout; a buffer of another version is not read. */
export const MAGIC = 0x41475332;
const PREAMBLE_BYTES = 8;
const ALIGNMENT = 8;

interface Directory<H> {
  readonly header: H;
  readonly sections: Readonly<Record<string, readonly [kind: KindName, offset: number, length: number]>>;
}

/** Bytes that are no snapshot of this version, or only a part of one. */
export class LayoutUnreadable extends Error {}

/**
 * One buffer: magic, length of the directory, directory as JSON, then the sections, each aligned for its kind.
 * @param texts written as UTF-8 into sections of their names; their offsets go to `…Offsets`
 */
export function pack(
  header: object,
  sections: Readonly<Record<string, Section>>,
  texts: Readonly<Record<string, readonly string[]>> = {},
): ArrayBuffer {
  const offsets = Object.entries(texts).map(([name, each]) => [name, toOffsets(each)] as const);
  const places: Record<string, readonly [KindName, number, number]> = {};
  let end = 0;
  const place = (name: string, kind: KindName, length: number) => {
    places[name] = [kind, end, length];
    end = aligned(end + length * KINDS[kind].BYTES_PER_ELEMENT);
  };
  for (const [name, section] of Object.entries(sections)) place(name, kindOf(section), section.length);
  for (const [name, each] of offsets) {
    place(`${name}Offsets`, 'u32', each.length);
    place(name, 'u8', each.at(-1) ?? 0);
  }
  const directory = new TextEncoder().encode(JSON.stringify({ header, sections: places }));
  const start = aligned(PREAMBLE_BYTES + directory.length);
  const buffer = new ArrayBuffer(start + end);
  new Uint32Array(buffer, 0, 2).set([MAGIC, directory.length]);
  new Uint8Array(buffer).set(directory, PREAMBLE_BYTES);
  const at = (name: string) => new Uint8Array(buffer, start + (places[name]?.[1] ?? 0));
  for (const [name, { buffer: bytes, byteOffset, byteLength }] of Object.entries(sections)) {
    at(name).set(new Uint8Array(bytes, byteOffset, byteLength));
  }
  for (const [name, each] of offsets) {
    at(`${name}Offsets`).set(new Uint8Array(each.buffer));
    writeTexts(texts[name] ?? [], each, at(name));
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
