import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { problemSchema } from '../problems/problem-document.js';
import { headersNamed } from './response-headers.js';
import { refTo } from './schemas.js';

const content = { 'application/problem+json': { schema: refTo(problemSchema) } };

/** What every route may answer beside its own. */
export const ApiProblems = () =>
  applyDecorators(
    ApiResponse({ status: '4XX', description: 'an error of the caller', headers: headersNamed(), content }),
    ApiResponse({
      status: '5XX',
      description: 'the bank, the way to it, or this service; `owner` says who must act',
      headers: headersNamed('Retry-After'),
      content,
    }),
  );
