import { hash } from 'node:crypto';
import type { Effort } from './effort.js';

export type Pkcs12Purpose = 'key' | 'iv' | 'mac';
const ID = { key: 1, iv: 2, mac: 3 } as const;

export interface Pkcs12Derivation {
  hashName: string;
  salt: Buffer;
  rounds: number;
}

/** The key derivation of RFC 7292, appendix B.2; `bmp` is the passcode of B.1. */
export function derivePkcs12Key(
  { hashName, salt, rounds }: Pkcs12Derivation,
  purpose: Pkcs12Purpose,
  bmp: Buffer,
  length: number,
  effort: Effort,
): Buffer {
  const block = hashName === 'sha384' || hashName === 'sha512' ? 128 : 64;
  const diversifier = Buffer.alloc(block, ID[purpose]);
  const input = Buffer.concat([fillBlocks(salt, block), fillBlocks(bmp, block)]);
  const pieces: Buffer[] = [];
  for (let have = 0; have < length;) {
    effort.spend(rounds);
    let piece = hash(hashName, Buffer.concat([diversifier, input]), 'buffer');
    for (let round = 1; round < rounds; round++) piece = hash(hashName, piece, 'buffer');
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
