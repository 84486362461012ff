import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isByOwnPage } from '../../http/cors.js';
import { refTo } from '../../representation/schemas.js';
import { HealthReport } from './health-report.js';
import { healthSchema, healthStatusSchema } from './health-schemas.js';
import { Callers } from '../metrics/callers.js';
import { EVERY_SECONDS, RecentEvents, RecentHistory } from '../metrics/recent-history.js';
import { recentSchema } from '../metrics/recent-schema.js';
import { GatewayStatus } from '../status/gateway-status.js';
import { isReady, Readiness } from '../status/readiness.js';

const RETRY_AFTER_SECONDS = '5';

const whole = { 'application/json': { schema: refTo(healthSchema) } };
const statusOnly = { 'application/json': { schema: refTo(healthStatusSchema) } };
const recent = { 'application/json': { schema: refTo(recentSchema) } };

/** Health for load balancers, probes and people (docs/troubleshooting.md#health). */
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly status: GatewayStatus,
    private readonly report: HealthReport,
    private readonly history: RecentHistory,
    private readonly callers: Callers,
    private readonly events: RecentEvents,
  ) {}

  @Get('live')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Check that the process answers',
    description: 'Checks nothing else. Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'the process can answer', content: statusOnly })
  live() {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check that this instance is ready for calls',
    description: 'Open to any address and any `Host`.',
  })
  @ApiResponse({ status: 200, description: 'ready', content: statusOnly })
  @ApiResponse({ status: 503, description: 'not ready', content: statusOnly })
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const ready = isReady(await this.readiness.facts());
    if (!ready) setNotReady(reply);
    return { status: ready ? 'ok' : 'error' };
  }

  @Get()
  @ApiOperation({
    operationId: 'getHealth',
    summary: 'Get health',
    description: 'Every component of the path to the bank, unhealthy ones first, with who must act and what to do.',
  })
  @ApiResponse({ status: 200, description: 'ready', content: whole })
  @ApiResponse({ status: 503, description: 'not ready', content: whole })
  async all(@Req() { headers }: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    // an open page costs an idle bank nothing
    const facts = isByOwnPage(headers) ? this.status.read() : await this.readiness.facts();
    const report = await this.report.of(facts);
    if (report.status === 'error') setNotReady(reply);
    return report;
  }

  /** For people, and for pages that draw it (docs/logs.md#the-last-hour). */
  @Get('recent')
  @ApiOperation({
    operationId: 'getRecent',
    summary: 'The last hour',
    description: 'Since the process started: counts and durations in points of 10 s, callers, and notable events.',
  })
  @ApiResponse({ status: 200, description: 'the last hour', content: recent })
  last() {
    const { points, present } = this.history;
    return { everySeconds: EVERY_SECONDS, points, present, clients: this.callers.clients, events: this.events.events };
  }
}

function setNotReady(reply: FastifyReply): void {
  reply.code(503).header('retry-after', RETRY_AFTER_SECONDS);
}
