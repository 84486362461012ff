import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { problemSchema } from '../problems/problem-document.js';
import { toOpenApiSchema } from './response-schemas.js';

const content = { 'application/problem+json': { schema: toOpenApiSchema(problemSchema) } };

/** What every route of the API may answer beside its own. */
export const ApiProblems = () =>
  applyDecorators(
    ApiResponse({ status: 304, description: 'the same data as the caller holds; Snapshot-As-Of tells its new age' }),
    ApiResponse({ status: '4XX', description: 'an error of the caller', content }),
    ApiResponse({
      status: '5XX',
      description: 'the bank, the way to it, or this service; `owner` says who must act',
      content,
    }),
  );
