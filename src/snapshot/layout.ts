/** A section that writes its bytes directly into the target buffer. */
interface Pieces {
  readonly byteLength: number;
  readonly pieces: Iterable<Uint8Array>;
}

export type Section = Uint8Array | Uint32Array | Pieces;

const KINDS = { u8: Uint8Array, u32: Uint32Array } as const;
type Kinds = Readonly<Record<string, keyof typeof KINDS>>;
type Views<K extends Kinds> = { readonly [N in keyof K]: InstanceType<(typeof KINDS)[K[N]]> };

/** Offset and length of each section, bytes. */
interface Directory<H> {
  readonly header: H;
  readonly places: Readonly<Record<string, readonly [offset: number, byteLength: number]>>;
}

const LENGTH_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** One buffer: the length of the directory, the directory as JSON, then the sections, each aligned to four bytes. */
export function pack(header: object, sections: Readonly<Record<string, Section>>): ArrayBuffer {
  const places: Record<string, readonly [number, number]> = {};
  let end = 0;
  for (const [name, { byteLength }] of Object.entries(sections)) {
    places[name] = [end, byteLength];
    end = aligned(end + byteLength);
  }
  const directory = Buffer.from(JSON.stringify({ header, places } satisfies Directory<object>));
  const start = aligned(LENGTH_BYTES + directory.length);
  const buffer = new ArrayBuffer(start + end);
  const bytes = new Uint8Array(buffer);
  new Uint32Array(buffer, 0, 1)[0] = directory.length;
  bytes.set(directory, LENGTH_BYTES);
  for (const [name, section] of Object.entries(sections)) {
    let at = start + (places[name]?.[0] ?? 0);
    for (const piece of 'pieces' in section ? section.pieces : [toBytes(section)]) {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return buffer;
}

/** The header and the sections of a packed buffer, without copying. */
export function unpack<H, K extends Kinds>(buffer: ArrayBuffer, kinds: K): { header: H; sections: Views<K> } {
  const [length = 0] = new Uint32Array(buffer, 0, 1);
  const { header, places } = JSON.parse(Buffer.from(buffer, LENGTH_BYTES, length).toString()) as Directory<H>;
  const start = aligned(LENGTH_BYTES + length);
  const views = Object.entries(kinds).map(([name, kind]) => {
    const [offset, byteLength] = places[name] as readonly [number, number];
    const View = KINDS[kind];
    return [name, new View(buffer, start + offset, byteLength / View.BYTES_PER_ELEMENT)];
  });
  return { header, sections: Object.fromEntries(views) as Views<K> };
}

const aligned = (offset: number): number => Math.ceil(offset / LENGTH_BYTES) * LENGTH_BYTES;

const toBytes = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);
