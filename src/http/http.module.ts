import { Module, type DynamicModule } from '@nestjs/common';
import { AllowedMethods } from './allowed-methods.js';
import { Connections } from './connections.js';
import type { Http } from './create-http.js';
import { ListenerCertificate } from './listener-certificate.js';
import { Shutdown } from './shutdown.js';

/** The HTTP server as the app sees it: its certificate, the methods of its routes, and its graceful stop. */
@Module({})
export class HttpModule {
  static register({ connections, certificate }: Http): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        AllowedMethods,
        Shutdown,
        { provide: Connections, useValue: connections },
        { provide: ListenerCertificate, useValue: certificate },
      ],
      exports: [Shutdown, ListenerCertificate],
    };
  }
}
