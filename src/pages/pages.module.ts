import { Module, type DynamicModule } from '@nestjs/common';
import { ConsoleController } from './console/console.controller.js';
import { SandboxControlController } from './console/sandbox-control.controller.js';
import { GuideController } from './guide/guide.controller.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { ProblemsController } from './problems/problems.controller.js';

/** The pages for people and the files that they load; the sandbox's switches only if the sandbox is embedded. */
@Module({})
export class PagesModule {
  static register({ sandbox }: { readonly sandbox: boolean }): DynamicModule {
    return {
      module: PagesModule,
      controllers: [
        ConsoleController,
        ProblemsController,
        OpenApiController,
        GuideController,
        ...(sandbox ? [SandboxControlController] : []),
      ],
    };
  }
}
