import { Body, Controller, Delete, Get, Patch, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.js';
import { siteOf } from '../../http/cors.js';
import { checkPatch } from '../../sandbox/control/control-patch.js';
import { SandboxControl } from '../../sandbox/control/sandbox-control.js';

/** Rejects calls from pages of other origins. */
class OwnPageGuard implements CanActivate {
  /** @throws GatewayError client-not-allowed */
  canActivate(context: ExecutionContext): true {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (siteOf(headers) === 'foreign') {
      throw new GatewayError('client-not-allowed', 'A page of another origin made this call.');
    }
    return true;
  }
}

/** The switches of the embedded sandbox bank, for the live pages (docs/sandbox.md#its-switches). */
@ApiExcludeController()
@UseGuards(OwnPageGuard)
@Controller('sandbox/control')
export class SandboxControlController {
  constructor(private readonly control: SandboxControl) {}

  @Get()
  state() {
    return { ...this.control.state, requests: this.control.lastRequests };
  }

  @Patch()
  patch(@Body() change: unknown) {
    const result = checkPatch(change);
    if (!result.isValid) {
      const detail = result.problems.map(({ name, reason }) => `${name} ${reason}`).join('; ');
      throw new GatewayError('invalid-request', `Nothing was changed: ${detail}.`, { errors: result.problems });
    }
    this.control.patch(result.patch);
    return this.control.state;
  }

  @Delete()
  reset() {
    this.control.reset();
    return this.control.state;
  }
}
