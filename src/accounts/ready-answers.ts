import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Answers } from './answers.js';
import { chooseJson, chooseListFormat, type ChooseFormat } from './media-type.js';
import { Responder } from './responder.js';
import { SnapshotKeeper } from './snapshot-keeper.js';

const MAX_KNOWN_URLS = 5000;
const MAX_URL_LENGTH = 500;
const NO_WISH = { noCache: false, onlyIfCached: false, maxAge: null };

/** What an address asks, found valid once. */
interface KnownUrl {
  /** As `Answers` knows it. */
  readonly question: string;
  /** How Accept is read; null when the address says JSON. */
  readonly choose: ChooseFormat | null;
}

/**
 * The short way for what is asked again and again: an address that has been validated once, whose answer is there and
 * fresh, is answered right behind the door. All else goes the way through the controllers.
 */
@Injectable()
export class ReadyAnswers implements OnModuleInit {
  readonly #known = new LRUCache<string, KnownUrl>({ max: MAX_KNOWN_URLS });

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly keeper: SnapshotKeeper,
    private readonly answers: Answers,
    private readonly responder: Responder,
  ) {}

  onModuleInit(): void {
    // the door's own hooks were there before: whoever comes here may come in
    this.adapterHost.httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      if (!this.#answer(request, reply)) done();
    });
  }

  /** For a request whose address was found valid, and that was answered with JSON. */
  remember({ raw: { url } }: FastifyRequest, question: string, accept: 'list' | 'json' | 'any'): void {
    if (url === undefined || url.length > MAX_URL_LENGTH || this.#known.has(url)) return;
    this.#known.set(url, {
      question,
      choose: accept === 'any' ? null : accept === 'list' ? chooseListFormat : chooseJson,
    });
  }

  #answer(request: FastifyRequest, reply: FastifyReply): boolean {
    const { headers } = request;
    const known = this.#known.get(request.raw.url ?? '');
    if (!known || headers['cache-control'] !== undefined) return false;
    if (known.choose && known.choose(headers.accept) !== 'json') return false;
    const served = this.keeper.getHeld(NO_WISH);
    const rendered = served && this.answers.ready(served, known.question);
    return rendered ? this.responder.sendReady(request, reply, served, rendered) : false;
  }
}
