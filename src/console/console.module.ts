import { Module, type DynamicModule } from '@nestjs/common';
import { SandboxControl } from '../sandbox/control/sandbox-control.js';
import { ConsoleController } from './console.controller.js';
import { SandboxControlController } from './sandbox-control.controller.js';

/** The page for people, and the switches of the sandbox bank where one is embedded. */
@Module({})
export class ConsoleModule {
  /** @param sandbox the switches of the sandbox bank in this process, or null */
  static register(sandbox: SandboxControl | null): DynamicModule {
    return {
      module: ConsoleModule,
      controllers: [ConsoleController, ...(sandbox ? [SandboxControlController] : [])],
      providers: sandbox ? [{ provide: SandboxControl, useValue: sandbox }] : [],
    };
  }
}
