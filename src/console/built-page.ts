import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { HttpEdge } from '../http/http-edge.js';
import { workerUrl } from '../worker-url.js';

const INDEX = fileURLToPath(workerUrl('./web/index.html', import.meta.url));

/** The console page as Vite built it (src/console/web): its HTML, and its other files under /assets/. */
@Injectable()
export class BuiltPage implements OnModuleInit {
  readonly html: string;

  constructor(
    private readonly edge: HttpEdge,
    settings: Settings,
  ) {
    // known before anything is asked, so that the page says from its first moment what is not real
    this.html = readFileSync(INDEX, 'utf8').replace('<html', `<html data-mode="${settings.mode}"`);
  }

  onModuleInit(): void {
    this.edge.fastify.register(fastifyStatic, {
      root: join(dirname(INDEX), 'assets'),
      prefix: '/assets/',
      // a route for each file, so that anything else there is not found as anywhere
      wildcard: false,
      globIgnore: ['**/*.br'],
      preCompressed: true,
      decorateReply: false,
      // their names have a hash of what is in them
      immutable: true,
      maxAge: '1y',
    });
  }
}
