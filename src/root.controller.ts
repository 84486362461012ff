import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** The front page, until a console page lives here. */
@ApiExcludeController()
@Controller()
export class RootController {
  @Get()
  @Redirect('/docs', 302)
  toDocs(): void {
    // the decorator says it all
  }
}
