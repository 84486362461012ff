import { hash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { toAlgorithm, toHmacHash, refuseAlgorithm, type Algorithm } from './algorithms.js';
import { childrenOf, countOf, isInteger, isSequence, Malformed, octetsOf } from './asn1.js';
import type { KdfBudget } from './kdf-budget.js';
import { PfxUnreadable } from './pfx-unreadable.js';

const PBKDF2 = '1.2.840.113549.1.5.12';
const SCRYPT = '1.3.6.1.4.1.11591.4.11';

/** 64 MiB, as N = 65536 with r = 8 takes, and what goes beside it. */
const SCRYPT_MAX_BYTES = 65 * 1_048_576;

/** Up to so many rounds a derivation takes some 2 s at most, and is run without asking how long it takes here. */
const UNASKED_ROUNDS = 1_000_000;
const SAMPLE_ROUNDS = 10_000;

/** The passcode's bytes and the wanted length to a key; `ownLength` is the length that the file itself names. */
interface Pbkdf {
  readonly ownLength: number | undefined;
  /** Throws PfxUnreadable by the budget. */
  derive(passcode: Buffer, length: number, budget: KdfBudget): Buffer;
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
  const hashBytes = hash(hashName, '', 'buffer').length;
  return {
    ownLength: lengthNode && countOf(lengthNode),
    derive(passcode, length, budget) {
      const run = (count: number, bytes: number) => pbkdf2Sync(passcode, salt, count, bytes, hashName);
      // each block of output takes all the rounds
      const total = rounds * Math.ceil(length / hashBytes);
      budget.charge(total);
      // one call cannot be interrupted, and the process could not even end meanwhile
      if (total > UNASKED_ROUNDS)
        budget.assertTimeFor((fastestMs(() => run(SAMPLE_ROUNDS, 1)) / SAMPLE_ROUNDS) * total);
      return run(rounds, length);
    },
  };
}

function toScrypt(parameters: Algorithm['parameters']): Pbkdf {
  const [saltNode, cost, blockSize, parallel, length] = childrenOf(parameters);
  const salt = octetsOf(saltNode);
  const [N, r, p] = [countOf(cost), countOf(blockSize), countOf(parallel)];
  if (N < 2 || !Number.isInteger(Math.log2(N)) || r < 1) throw new Malformed('scrypt with parameters that it has not');
  if (128 * r * (N + p) > SCRYPT_MAX_BYTES) {
    throw new PfxUnreadable(
      'unknown-algorithm',
      `The PFX is given its keys with scrypt in more than 64 MB of memory (N = ${N}, r = ${r}, p = ${p}), which is refused; export it again with PBKDF2 (openssl does so by default), or have it checked: it may be damaged.`,
    );
  }
  return {
    ownLength: length && countOf(length),
    derive(passcode, wanted, budget) {
      const run = (parallel: number) =>
        scryptSync(passcode, salt, wanted, { N, r, p: parallel, maxmem: SCRYPT_MAX_BYTES + 1_048_576 });
      budget.charge(N * r * p);
      if (p > 1) budget.assertTimeFor(fastestMs(() => run(1)) * p);
      return run(p);
    },
  };
}

/** Of three, as something else may be running. */
function fastestMs(work: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
