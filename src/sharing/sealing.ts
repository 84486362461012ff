import { createCipheriv, createDecipheriv, randomBytes, type DecipherGCM } from 'node:crypto';
import { z } from 'zod';
import type { FleetKeys } from './fleet-keys.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
export const TAG_BYTES = 16;
/** Asked for explicitly: without it Node also takes shorter ones, which are easier to forge. */
const TAG = { authTagLength: TAG_BYTES };
const LENGTH_BYTES = 4;

/** So much is sealed or opened without a pause: about a millisecond of work. */
export const PIECE_BYTES = 1_048_576;
/** No header is longer; nobody needs to read more to know. */
export const MAX_HEADER_BYTES = 2048;

/** What the header of something sealed says, in the clear and authenticated. */
const factsSchema = z.object({
  kind: z.enum(['snapshot', 'token', 'wait']),
  /** Of a snapshot: when the bank was asked, ISO; else when it was written. */
  asOf: z.string().max(40),
  /** The same in ms, by the clock of who keeps it: Redis', or the wall clock of the machine with the file. */
  at: z.number(),
  /** How long the reading took, ms; else 0. */
  durationMs: z.number().min(0),
  /** Which holder of the lease wrote it; 0 for a file. */
  fence: z.int().min(0),
  /** Of the content, before sealing. */
  bytes: z.int().min(0),
});

const headerSchema = factsSchema.extend({
  v: z.literal(1),
  keyId: z.string().max(64),
  /** The data key of this one write, sealed with the wrapping key. */
  wrapped: z.base64url().max(200),
  iv: z.base64url().max(40),
});

export type Facts = z.output<typeof factsSchema>;
type Header = z.output<typeof headerSchema>;

/** Something that was not sealed by this fleet, or not as it is now. `reason` is a word for the log. */
export class Refused extends Error {
  constructor(
    readonly reason: 'damaged' | 'foreign' | 'too-large' | 'too-old' | 'unreadable',
    options?: ErrorOptions,
  ) {
    super(`sealed content was refused: ${reason}`, options);
  }
}

/** Sealed content: its header with the length before it, then pieces of at most PIECE_BYTES with the tag behind the last. */
export interface Sealed {
  readonly header: Buffer;
  readonly pieces: Iterable<Buffer>;
}

/**
 * Seals content with a data key of its own (AES-256-GCM), and that with the wrapping key of the fleet. Each piece is made
 * when it is asked for, so that the writer can pause between.
 */
export function seal(content: Uint8Array, facts: Omit<Facts, 'bytes'>, keys: FleetKeys): Sealed {
  const dataKey = randomBytes(KEY_BYTES);
  const iv = randomBytes(IV_BYTES);
  const clear = { v: 1 as const, ...facts, bytes: content.length, keyId: keys.keyId, iv: iv.toString('base64url') };
  const aad = toAad(clear, keys);
  const wrapped = sealAtOnce(dataKey, keys.wrappingKey, aad).toString('base64url');
  const text = Buffer.from(JSON.stringify({ ...clear, wrapped } satisfies Header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return { header: Buffer.concat([length, text]), pieces: toPieces(content, dataKey, iv, aad) };
}

function* toPieces(content: Uint8Array, key: Buffer, iv: Buffer, aad: Buffer): Generator<Buffer> {
  const cipher = createCipheriv(CIPHER, key, iv, TAG).setAAD(aad);
  for (let start = 0; start === 0 || start < content.length; start += PIECE_BYTES) {
    const piece = cipher.update(content.subarray(start, start + PIECE_BYTES));
    const last = start + PIECE_BYTES >= content.length;
    yield last ? Buffer.concat([piece, cipher.final(), cipher.getAuthTag()]) : piece;
  }
}

/** Content that is being opened: all of it is believed only when `finish` has gone well. */
export interface Opening {
  readonly facts: Facts;
  /** How long the header was, its length included: the pieces come after it. */
  readonly headerBytes: number;
  /** How many pieces there are. */
  readonly pieces: number;
  /** The next bytes, in whatever portions. @throws Refused */
  push(bytes: Uint8Array): void;
  /** @throws Refused */
  finish(): ArrayBuffer;
}

/**
 * Reads a header, and unwraps the data key: what it says is then known to come from this fleet, its length included.
 * @throws Refused
 */
export function open(start: Buffer, kind: Facts['kind'], keys: FleetKeys, maxBytes: number): Opening {
  const length = start.length < LENGTH_BYTES ? 0 : start.readUInt32LE(0);
  if (length === 0 || length > MAX_HEADER_BYTES || start.length < LENGTH_BYTES + length) throw new Refused('damaged');
  const header = parse(start.subarray(LENGTH_BYTES, LENGTH_BYTES + length), headerSchema);
  if (header.keyId !== keys.keyId || header.kind !== kind) throw new Refused('foreign');
  const { wrapped, ...clear } = header;
  const aad = toAad(clear, keys);
  const dataKey = openAtOnce(Buffer.from(wrapped, 'base64url'), keys.wrappingKey, aad);
  if (header.bytes > maxBytes) throw new Refused('too-large');
  const decipher = createDecipheriv(CIPHER, dataKey, Buffer.from(header.iv, 'base64url'), TAG).setAAD(aad);
  return {
    facts: header,
    headerBytes: LENGTH_BYTES + length,
    pieces: Math.max(1, Math.ceil(header.bytes / PIECE_BYTES)),
    ...toReader(decipher, header.bytes),
  };
}

function toReader(decipher: DecipherGCM, bytes: number): Pick<Opening, 'push' | 'finish'> {
  // made when it is needed: a look at the facts alone must not pay for it
  let content: Uint8Array<ArrayBuffer> | null = null;
  const tag = Buffer.alloc(TAG_BYTES);
  let taken = 0;
  return {
    push: (portion) => {
      if (taken + portion.length > bytes + tag.length) throw new Refused('damaged');
      content ??= new Uint8Array(bytes);
      const ofContent = portion.subarray(0, Math.max(0, bytes - taken));
      content.set(decipher.update(ofContent), taken);
      tag.set(portion.subarray(ofContent.length), Math.max(0, taken - bytes));
      taken += portion.length;
    },
    finish: () => {
      if (content === null || taken !== bytes + tag.length) throw new Refused('damaged');
      try {
        decipher.setAuthTag(tag).final();
      } catch (error) {
        throw new Refused('damaged', { cause: error });
      }
      return content.buffer;
    },
  };
}

/** A small value, sealed as one. */
export function sealJson(value: object, { kind, at, fence }: Pick<Facts, 'kind' | 'at' | 'fence'>, keys: FleetKeys) {
  const facts = { kind, asOf: new Date(at).toISOString(), at, durationMs: 0, fence };
  const { header, pieces } = seal(Buffer.from(JSON.stringify(value)), facts, keys);
  return Buffer.concat([header, ...pieces]);
}

/** @throws Refused, also for a value that is not as the schema says */
export function openJson<T>(
  sealed: Buffer,
  kind: Facts['kind'],
  schema: z.ZodType<T>,
  keys: FleetKeys,
): { readonly facts: Facts; readonly value: T } {
  const opening = open(sealed, kind, keys, PIECE_BYTES);
  opening.push(sealed.subarray(opening.headerBytes));
  return { facts: opening.facts, value: parse(Buffer.from(opening.finish()), schema) };
}

/** Those who could change any of this could pass off one thing as another. */
function toAad(clear: Omit<Header, 'wrapped'>, { context }: FleetKeys): Buffer {
  const { v, kind, asOf, at, durationMs, fence, bytes, keyId, iv } = clear;
  return Buffer.from(JSON.stringify([v, kind, asOf, at, durationMs, fence, bytes, keyId, iv, ...context]));
}

function sealAtOnce(content: Buffer, key: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, TAG).setAAD(aad);
  return Buffer.concat([iv, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

function openAtOnce(sealed: Buffer, key: Buffer, aad: Buffer): Buffer {
  try {
    const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(-TAG_BYTES)];
    const decipher = createDecipheriv(CIPHER, key, iv, TAG).setAAD(aad).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new Refused('foreign', { cause: error });
  }
}

function parse<T>(text: Buffer, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text.toString('utf8')));
  } catch (error) {
    throw new Refused('damaged', { cause: error });
  }
}
