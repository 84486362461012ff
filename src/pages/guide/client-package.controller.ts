import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { readBuiltFiles } from '../../config/built-file.js';
import { GatewayError } from '../../errors/gateway-error.js';

/** The typed client of this version as a package, for a file in the repository of a web app (client/README.md#install). */
@ApiExcludeController()
@Controller('client')
export class ClientPackageController {
  readonly #packages = readBuiltFiles('client');

  /** @throws GatewayError not-found, which names the version of this gateway */
  @Get(':name')
  @Header('content-type', 'application/gzip')
  @Header('cache-control', 'public, max-age=300')
  get(@Param('name') name: string): Buffer {
    const file = this.#packages.get(name);
    if (file) return file;
    throw new GatewayError('not-found', `This gateway serves ${[...this.#packages.keys()].join(', ')}.`);
  }
}
