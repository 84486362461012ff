import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayError } from '../problems/gateway-error.js';
import { toProblemAnswer } from './problem-answer.js';
import './request-state.js';

/** Answers with a problem document where the framework has taken over. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: GatewayError): void {
  const { state } = request;
  state.code = error.code;
  const { status, headers, body } = toProblemAnswer(error, state.path, state.requestId);
  reply.code(status).headers(headers).send(body);
}
