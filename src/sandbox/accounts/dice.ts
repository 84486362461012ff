import { hash } from 'node:crypto';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Reproducible random numbers: the same key gives the same numbers on every machine. */
export class Dice {
  readonly #random;

  constructor(key: string) {
    this.#random = xoroshiro128plus(digest(key).readInt32LE(0));
  }

  /** A whole number from `from` to `to`, inclusive. */
  int(from: number, to: number): number {
    return uniformInt(this.#random, from, to);
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.int(1, 100) <= percent;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.int(0, choices.length - 1)] ?? choices[0];
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.int(0, 9)).join('');
  }
}

/** A UUID (version 8 of RFC 9562: from a hash) that depends on the key alone. */
export function toUuid(key: string): string {
  const octets = digest(key).subarray(0, 16);
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x80, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
