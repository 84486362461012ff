import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { readBuiltFiles } from '../../config/built-file.js';
import { GatewayError } from '../../errors/gateway-error.js';

/** The typed client as a package, so that web apps install the version of this gateway: `npm install <address>`. */
@ApiExcludeController()
@Controller('client')
export class ClientPackageController {
  readonly #packages = readBuiltFiles('client');

  @Get(':name')
  get(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const file = this.#packages.get(name);
    if (!file) {
      throw new GatewayError('not-found', `This gateway serves ${[...this.#packages.keys()].join(', ')}.`);
    }
    reply.headers({ 'content-type': 'application/gzip', 'cache-control': 'public, max-age=300' }).send(file);
  }
}
