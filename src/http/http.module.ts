import { Module, type DynamicModule } from '@nestjs/common';
import type { Http } from './create-http.js';
import { ListenerCertificate } from './listener-certificate.js';
import { UnderWay } from './under-way.js';

/** The HTTP server as the app sees it: its certificate and its graceful stop. */
@Module({})
export class HttpModule {
  static register({ underWay, certificate }: Http): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        { provide: UnderWay, useValue: underWay },
        { provide: ListenerCertificate, useValue: certificate },
      ],
      exports: [UnderWay, ListenerCertificate],
    };
  }
}
