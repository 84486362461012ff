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

/** The answer to an `If-None-Match` that still holds. */
export const ApiNotModified = () =>
  ApiResponse({
    status: 304,
    description: 'the same data as the caller holds; Snapshot-As-Of tells its new age',
    headers: SNAPSHOT_HEADERS,
  });
