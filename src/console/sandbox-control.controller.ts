import { Body, Controller, Delete, Get, Header, Patch, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../problems/gateway-error.js';
import { SandboxControl } from '../sandbox/control/sandbox-control.js';

/** The switches of the embedded sandbox bank, for the console page (docs/sandbox.md#its-switches). */
@ApiExcludeController()
@Controller('sandbox/control')
export class SandboxControlController {
  constructor(private readonly control: SandboxControl) {}

  @Get()
  @Header('cache-control', 'no-store')
  state(@Req() request: FastifyRequest) {
    assertOwnPage(request);
    return { ...this.control.state, requests: this.control.lastRequests };
  }

  @Patch()
  @Header('cache-control', 'no-store')
  patch(@Req() request: FastifyRequest, @Body() body: unknown) {
    assertOwnPage(request);
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    if (type !== 'application/json') {
      throw new GatewayError('malformed-request', 'Content-Type must be application/json.');
    }
    const result = this.control.patch(body);
    if (result.good) return this.control.state;
    throw new GatewayError('invalid-request', 'Nothing was changed.', {
      errors: result.problems.map((problem) => {
        const [, name = 'body', reason = problem] = /^([\w.]+): (.*)$/s.exec(problem) ?? [];
        return { name, reason };
      }),
    });
  }

  @Delete()
  @Header('cache-control', 'no-store')
  reset(@Req() request: FastifyRequest) {
    assertOwnPage(request);
    this.control.reset();
    return this.control.state;
  }
}

/**
 * A page that has a browser call must be this service's own. A browser says so in `Sec-Fetch-Site` where it trusts the
 * connection, and in `Origin` of everything but a plain GET; `none` is an address that a person has typed.
 * @throws GatewayError client-not-allowed
 */
function assertOwnPage({ headers, protocol }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const foreign = origin !== undefined && origin !== `${protocol}://${host}`;
  if (foreign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new GatewayError('client-not-allowed', 'A page of another origin made this call.');
  }
}
