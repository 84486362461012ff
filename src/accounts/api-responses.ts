import { ApiResponse } from '@nestjs/swagger';
import { headersNamed } from '../openapi/response-headers.js';

/** Headers of every response built from a snapshot. */
export const SNAPSHOT_HEADERS = headersNamed(
  'Age',
  'Cache-Control',
  'Cache-Status',
  'ETag',
  'Snapshot-As-Of',
  'Snapshot-Complete',
  'Snapshot-Stale',
);

/** The 304 for an `If-None-Match` whose ETag still matches. */
export const ApiNotModified = () =>
  ApiResponse({
    status: 304,
    description: 'the caller already has this data; Snapshot-As-Of has its new time',
    headers: SNAPSHOT_HEADERS,
  });
