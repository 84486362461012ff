import { describeShape } from '../bank/describe-shape.js';
import type { Listed } from './check-accounts.js';
import type { Findings } from './walk.js';

/** Compares the bank's answer with what the gateway knows of it. @throws GatewayError bank-response-invalid */
export async function checkShape({ text, failure }: Listed, findings: Findings): Promise<void> {
  const shape = describeShape(text);
  const { list, unknownFields, missingFields } = shape;
  Object.assign(findings.facts, shape);
  findings.lines.push(`the accounts stand in ${list}`);
  if (missingFields.length > 0) findings.lines.push(`not sent: ${missingFields.join(', ')}`);
  // on a later page than the one described
  if (failure) throw failure;
  if (unknownFields.length === 0) return;
  findings.problem = `The bank sends fields that the gateway does not know: ${unknownFields.join(', ')}.`;
  findings.remedy = 'Nothing is broken; they are left out of the answers. Tell those who maintain the gateway.';
}
