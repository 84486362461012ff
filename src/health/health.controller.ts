import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiProblems } from '../openapi/api-problems.js';
import { headersNamed } from '../openapi/response-headers.js';
import { refTo } from '../openapi/schemas.js';
import { VERSION } from '../config/version.js';
import { HealthReport } from './health-report.js';
import { healthSchema, healthStatusSchema } from './health-schemas.js';
import { Readiness } from './readiness.js';

/** Probes come again by themselves; people who ask by hand may as well wait for a retry step. */
const RETRY_AFTER_SECONDS = '5';

const whole = { 'application/json': { schema: refTo(healthSchema) } };
const statusOnly = { 'application/json': { schema: refTo(healthStatusSchema) } };
const ok = headersNamed('Cache-Control');
const unavailable = headersNamed('Cache-Control', 'Retry-After');

/** Health for balancers and people (docs/operations.md#health). Probes ask the bank where there is nothing to answer with. */
@ApiTags('health')
@ApiProblems()
@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly report: HealthReport,
  ) {}

  @Get('live')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Whether the process can answer',
    description: 'Looks at nothing else. Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'the process can answer', headers: ok, content: statusOnly })
  live(@Res() reply: FastifyReply) {
    return send(reply, 200, { status: 'ok' });
  }

  @Get('ready')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Whether a call for accounts would be answered now',
    description: 'Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'it would', headers: ok, content: statusOnly })
  @ApiResponse({ status: 503, description: 'it would not', headers: unavailable, content: statusOnly })
  async ready(@Res() reply: FastifyReply) {
    const ready = await this.readiness.check();
    return send(reply, ready ? 200 : 503, { status: ready ? 'ok' : 'error' });
  }

  @Get()
  @ApiOperation({
    operationId: 'getHealth',
    summary: 'The whole picture',
    description: 'Every part of the way to the bank; what is not well says who must act and what to do.',
  })
  @ApiResponse({ status: 200, description: 'ready; the whole picture', headers: ok, content: whole })
  @ApiResponse({ status: 503, description: 'not ready; the whole picture', headers: unavailable, content: whole })
  async all(@Res() reply: FastifyReply) {
    await this.readiness.check();
    const { ready, ...picture } = await this.report.read();
    return send(reply, ready ? 200 : 503, { ...picture, version: VERSION });
  }
}

function send(reply: FastifyReply, status: number, body: object) {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .headers(status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {})
    .send(body);
}
