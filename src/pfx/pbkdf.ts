import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { toAlgorithm, toHmacHash, refuseAlgorithm, type Algorithm } from './algorithms.js';
import { childrenOf, countOf, isInteger, isSequence, octetsOf } from './asn1.js';
import type { Effort } from './effort.js';

const PBKDF2 = '1.2.840.113549.1.5.12';
const SCRYPT = '1.3.6.1.4.1.11591.4.11';

/** A passcode's bytes and the wanted length to a key; `ownLength` is the length that the file itself names. */
export interface Pbkdf {
  ownLength: number | undefined;
  derive(raw: Buffer, length: number, effort: Effort): Buffer;
}

/** PBKDF2 (RFC 8018, A.2) or scrypt (RFC 7914, 7). Throws PfxUnreadable 'unknown-algorithm', Malformed. */
export function toPbkdf({ oid, parameters }: Algorithm): Pbkdf {
  if (oid === PBKDF2) return toPbkdf2(parameters);
  if (oid === SCRYPT) return toScrypt(parameters);
  return refuseAlgorithm(oid, 'given its keys');
}

function toPbkdf2(parameters: Algorithm['parameters']): Pbkdf {
  const [saltNode, roundsNode, ...rest] = childrenOf(parameters);
  const salt = octetsOf(saltNode);
  const rounds = countOf(roundsNode);
  const lengthNode = rest.find(isInteger);
  const prf = rest.find(isSequence);
  const hashName = prf === undefined ? 'sha1' : toHmacHash(toAlgorithm(prf));
  return {
    ownLength: lengthNode && countOf(lengthNode),
    derive(raw, length, effort) {
      effort.spend(rounds);
      return pbkdf2Sync(raw, salt, rounds, length, hashName);
    },
  };
}

function toScrypt(parameters: Algorithm['parameters']): Pbkdf {
  const [salt, cost, blockSize, parallel, length] = childrenOf(parameters);
  const [N, r, p] = [countOf(cost), countOf(blockSize), countOf(parallel)];
  return {
    ownLength: length && countOf(length),
    derive(raw, wanted, effort) {
      effort.spend(N * r * p);
      return scryptSync(raw, octetsOf(salt), wanted, { N, r, p, maxmem: 128 * r * (N + p) + 1_048_576 });
    },
  };
}
