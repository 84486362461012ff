import { Controller, Get, Res, ServiceUnavailableException } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.js';
import { describeRoutes } from '../egress/route.js';
import { Settings } from '../config/settings.js';
import { VERSION } from '../version.js';
import { Readiness } from './readiness.js';

const DEGRADED_UNDER_DAYS = 30;
/** Probes come again by themselves; who asks by hand may as well wait for a retry step. */
const RETRY_AFTER_SECONDS = '5';

/** Health for balancers and people (contract §5). It reads what the rooms say of themselves. */
@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: Readiness,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly keeper: SnapshotKeeper,
    private readonly settings: Settings,
  ) {}

  @Get('live')
  @ApiResponse({ status: 200, description: 'the process can answer' })
  live(@Res() reply: FastifyReply) {
    return send(reply, 200, { status: 'ok' });
  }

  @Get('ready')
  @ApiResponse({ status: 200, description: 'a call for accounts would be answered now' })
  @ApiResponse({ status: 503, description: 'it would not' })
  async ready(@Res() reply: FastifyReply) {
    const ready = await this.readiness.check();
    return send(reply, ready ? 200 : 503, { status: ready ? 'ok' : 'error' });
  }

  @Get()
  @ApiResponse({ status: 200, description: 'ready; the whole picture' })
  @ApiResponse({ status: 503, description: 'not ready; the whole picture' })
  async all(@Res() reply: FastifyReply) {
    const ready = await this.readiness.check();
    const { info, error, details } = await this.#check(ready);
    const allUp = Object.values(details).every((detail) => detail?.status === 'up');
    const status = !ready ? 'error' : allUp ? 'ok' : 'degraded';
    return send(reply, ready ? 200 : 503, { status, info, error, details, version: VERSION });
  }

  async #check(ready: boolean): Promise<HealthCheckResult> {
    try {
      return await this.health.check([
        () => this.#certificate(),
        () => this.#token(),
        () => this.#bank(ready),
        () => this.#snapshot(),
        () => this.#egress(ready),
      ]);
    } catch (error) {
      // terminus tells of a failed check by throwing it
      if (error instanceof ServiceUnavailableException) return error.getResponse() as HealthCheckResult;
      throw error;
    }
  }

  #certificate(): HealthIndicatorResult {
    const { fault, ...data } = this.identities.status();
    const check = this.indicators.check('certificate');
    if (fault !== null) return check.down({ ...data, problem: fault });
    return data.refused !== null || data.daysLeft < DEGRADED_UNDER_DAYS ? check.degraded(data) : check.up(data);
  }

  #token(): HealthIndicatorResult {
    const { state, expiresInSeconds, lastError, renewalFailed } = this.identities.current.tokens.status();
    const data = { state, expiresInSeconds, lastError };
    const check = this.indicators.check('token');
    if (!renewalFailed) return check.up(data);
    return state === 'usable' ? check.degraded(data) : check.down(data);
  }

  #bank(ready: boolean): HealthIndicatorResult {
    const { failing, lastSuccessAt, lastError } = this.condition.status();
    const circuits = [this.identities.current.tokens.status().circuit, this.keeper.status().circuit];
    const circuit =
      circuits.find((each) => each === 'open') ?? circuits.find((each) => each === 'half-open') ?? 'closed';
    const data = { mode: this.settings.bank.mode, lastSuccessAt, lastError, circuit };
    const check = this.indicators.check('bank');
    if (!failing) return check.up(data);
    return ready ? check.degraded(data) : check.down(data);
  }

  #snapshot(): HealthIndicatorResult {
    const { asOf, ageMs, accounts, stale } = this.keeper.status();
    const data = { asOf, ageSeconds: ageMs === null ? null : Math.floor(ageMs / 1000), accounts, stale };
    const check = this.indicators.check('snapshot');
    return stale ? check.degraded(data) : check.up(data);
  }

  #egress(ready: boolean): HealthIndicatorResult {
    const { bank, egress } = this.settings;
    const data = { route: describeRoutes(egress, bank) };
    const { failing, lastError } = this.condition.status();
    const check = this.indicators.check('egress');
    if (!failing || !lastError?.code.startsWith('proxy-')) return check.up(data);
    return ready ? check.degraded(data) : check.down(data);
  }
}

function send(reply: FastifyReply, status: number, body: object) {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .headers(status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {})
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(body)));
}
