import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { problemSchema } from '../problems/problem-document.js';
import { PROBLEM_CODES, PROBLEMS } from '../problems/problem-table.js';
import { headersNamed } from './response-headers.js';
import { refTo } from './schemas.js';

const content = { 'application/problem+json': { schema: refTo(problemSchema) } };

/** Problem statuses common to all routes, including those that never call the bank. */
const GUARDED = [400, 403, 406, 421, 500, 503] as const;
/** The same, for a route that waits for the bank. */
export const FROM_THE_BANK = [...GUARDED, 502, 504] as const;

/** Documents the problem responses of a route: these statuses and those common to all routes. */
export const ApiProblems = (...statuses: readonly number[]) =>
  applyDecorators(
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: PROBLEM_CODES.filter((code) => PROBLEMS[code].status === status)
          .map((code) => `\`${code}\``)
          .join(', '),
        headers: status === 503 ? headersNamed('Retry-After') : headersNamed(),
        content,
      }),
    ),
    ApiResponse({ status: '4XX', description: 'an error of the caller', headers: headersNamed(), content }),
    ApiResponse({
      status: '5XX',
      description: 'the bank, the network to it, or this service; `owner` is who must act',
      headers: headersNamed('Retry-After'),
      content,
    }),
  );
