import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { refTo } from '../../representation/schemas.js';
import { GatewayStatus } from './gateway-status.js';
import { HealthReport } from './health-report.js';
import { healthSchema, healthStatusSchema } from './health-schemas.js';
import { Readiness } from './readiness.js';

/** Probes retry on their own schedule; for people, about one step of the back-off. */
const RETRY_AFTER_SECONDS = '5';

const whole = { 'application/json': { schema: refTo(healthSchema) } };
const statusOnly = { 'application/json': { schema: refTo(healthStatusSchema) } };

/** Health for load balancers, probes and people (docs/health-and-metrics.md#health). */
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly status: GatewayStatus,
    private readonly report: HealthReport,
  ) {}

  @Get('live')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Check that the process answers',
    description: 'Checks nothing else. Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'the process can answer', content: statusOnly })
  live(@Res() reply: FastifyReply) {
    return send(reply, 200, { status: 'ok' });
  }

  @Get('ready')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check that a call for accounts would be answered now',
    description: 'Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'ready', content: statusOnly })
  @ApiResponse({ status: 503, description: 'not ready', content: statusOnly })
  async ready(@Res() reply: FastifyReply) {
    const ready = await this.readiness.check();
    return send(reply, ready ? 200 : 503, { status: ready ? 'ok' : 'error' });
  }

  @Get()
  @ApiOperation({
    operationId: 'getHealth',
    summary: 'Get health',
    description:
      'Every hop on the path to the bank. Unhealthy components come first, with who must act and what to do.',
  })
  @ApiResponse({ status: 200, description: 'ready', content: whole })
  @ApiResponse({ status: 503, description: 'not ready', content: whole })
  async all(@Res() reply: FastifyReply) {
    await this.readiness.check();
    const report = await this.report.of(this.status.read());
    return send(reply, report.status === 'error' ? 503 : 200, report);
  }
}

function send(reply: FastifyReply, status: number, body: object) {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .headers(status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {})
    .send(body);
}
