import { hash } from 'node:crypto';
import type { KdfBudget } from './kdf-budget.js';

export type Pkcs12Purpose = 'key' | 'iv' | 'mac';
const ID = { key: 1, iv: 2, mac: 3 } as const;

/** Block sizes of the hashes in bytes; 64 for all others. */
const BLOCK_BYTES: Readonly<Record<string, number>> = {
  sha384: 128,
  sha512: 128,
  'sha512-224': 128,
  'sha512-256': 128,
  'sha3-224': 144,
  'sha3-256': 136,
  'sha3-384': 104,
  'sha3-512': 72,
};

const ROUNDS_BETWEEN_LOOKS = 50_000;

interface Pkcs12Derivation {
  readonly hashName: string;
  readonly salt: Buffer;
  readonly rounds: number;
}

/** The key derivation of RFC 7292, appendix B.2; `bmp` is the passcode of B.1. @throws PfxUnreadable by the budget */
export function derivePkcs12Key(
  { hashName, salt, rounds }: Pkcs12Derivation,
  purpose: Pkcs12Purpose,
  bmp: Buffer,
  length: number,
  budget: KdfBudget,
): Buffer {
  const block = BLOCK_BYTES[hashName] ?? 64;
  const diversifier = Buffer.alloc(block, ID[purpose]);
  const input = Buffer.concat([fillBlocks(salt, block), fillBlocks(bmp, block)]);
  const pieces: Buffer[] = [];
  for (let have = 0; have < length;) {
    budget.charge(rounds);
    const piece = hashAgain(
      hashName,
      hash(hashName, Buffer.concat([diversifier, input]), 'buffer'),
      rounds - 1,
      budget,
    );
    pieces.push(piece);
    have += piece.length;
    addToEachBlock(input, fillBlocks(piece, block).subarray(0, block));
  }
  return Buffer.concat(pieces).subarray(0, length);
}

function fillBlocks(bytes: Buffer, block: number): Buffer {
  return bytes.length === 0 ? bytes : Buffer.alloc(block * Math.ceil(bytes.length / block), bytes);
}

/** Each block of `input` becomes itself + `addend` + 1, as big-endian numbers, overflow dropped. */
function addToEachBlock(input: Buffer, addend: Buffer): void {
  for (let start = 0; start < input.length; start += addend.length) {
    let carry = 1;
    for (let at = addend.length - 1; at >= 0; at--) {
      carry += input.readUInt8(start + at) + addend.readUInt8(at);
      input.writeUInt8(carry & 0xff, start + at);
      carry >>= 8;
    }
  }
}

function hashAgain(hashName: string, digest: Buffer, times: number, budget: KdfBudget): Buffer {
  const startedAt = performance.now();
  let result = digest;
  for (let done = 0; done < times;) {
    const count = Math.min(ROUNDS_BETWEEN_LOOKS, times - done);
    if (hashName === 'sha1') result = sha1Again(result, count);
    else for (let round = 0; round < count; round++) result = hash(hashName, result, 'buffer');
    done += count;
    budget.assertPace(startedAt, done / times);
  }
  return result;
}

/**
 * SHA-1 (FIPS 180-4) of a SHA-1 digest, `times` over. Old files take hundreds of thousands of rounds, and OpenSSL's costs
 * 1.9 µs for each when it is called from here; this one, which has but one block to hash, 0.3 µs.
 */
function sha1Again(digest: Buffer, times: number): Buffer {
  const word = new Int32Array(80);
  const state = Int32Array.from({ length: 5 }, (_, index) => digest.readInt32BE(4 * index));
  for (let round = 0; round < times; round++) {
    word.set(state);
    // the padding of a message of 20 bytes: one bit, zeros, the length in bits
    word[5] = 0x80000000;
    word.fill(0, 6, 15);
    word[15] = 160;
    hashBlock(state, word);
  }
  const result = Buffer.alloc(20);
  state.forEach((value, index) => result.writeInt32BE(value, 4 * index));
  return result;
}

/* oxlint-disable typescript/no-non-null-assertion -- the arrays are of fixed length, and this is the innermost loop */
function hashBlock(state: Int32Array, word: Int32Array): void {
  for (let t = 16; t < 80; t++) {
    const mixed = word[t - 3]! ^ word[t - 8]! ^ word[t - 14]! ^ word[t - 16]!;
    word[t] = (mixed << 1) | (mixed >>> 31);
  }
  let a = 0x67452301;
  let b = 0xefcdab89 | 0;
  let c = 0x98badcfe | 0;
  let d = 0x10325476;
  let e = 0xc3d2e1f0 | 0;
  for (let t = 0; t < 80; t++) {
    let mixed = b ^ c ^ d;
    let constant = t < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if (t < 20) {
      mixed = d ^ (b & (c ^ d));
      constant = 0x5a827999;
    } else if (t >= 40 && t < 60) {
      mixed = (b & c) | (d & (b | c));
      constant = 0x8f1bbcdc;
    }
    const next = (((a << 5) | (a >>> 27)) + mixed + e + constant + word[t]!) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] = a + 0x67452301;
  state[1] = b + 0xefcdab89;
  state[2] = c + 0x98badcfe;
  state[3] = d + 0x10325476;
  state[4] = e + 0xc3d2e1f0;
}
