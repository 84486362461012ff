import { refuseAlgorithm, type Algorithm } from './algorithms.js';
import type { Pbe } from './pbe.js';
import { PBES2, toPbes2 } from './pbes2.js';
import { toPkcs12Pbe } from './pkcs12-pbe.js';

/** PBES2 or one of PKCS#12's own. Throws PfxUnreadable 'unknown-algorithm', Malformed. */
export function toPbe(algorithm: Algorithm): Pbe {
  if (algorithm.oid === PBES2) return toPbes2(algorithm);
  return toPkcs12Pbe(algorithm) ?? refuseAlgorithm(algorithm.oid, 'encrypted');
}
