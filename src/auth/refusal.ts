import { FileUnusable } from '../config/small-file.js';
import { CertificateUnreadable } from '../pfx/certificate-unreadable.js';
import { GatewayError } from '../problems/gateway-error.js';
import { PROBLEMS, type ProblemCode } from '../problems/problem-table.js';

/** The reason why a new identity is not taken. */
export interface Refusal {
  readonly code: ProblemCode;
  readonly detail: string;
}

/** The refusal of files that could not be read. @param retried they are read again although no file changes */
export function toRefusal(error: unknown, retried: boolean): Refusal {
  const known =
    error instanceof CertificateUnreadable || error instanceof FileUnusable || error instanceof GatewayError;
  const detail = known ? error.message : 'The files could not be read because of an internal error.';
  return {
    code: known ? 'certificate-unusable' : 'internal-error',
    detail: retried ? `${detail} They are read again every second.` : detail,
  };
}

/** True for a failed proof that says nothing about the new identity: the network or the bank must act. */
export const isOutOfReach = (code: ProblemCode): boolean => PROBLEMS[code].owner !== 'operator';
