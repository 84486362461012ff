import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Answers } from './answers.js';
import { chooseJson, chooseListFormat, type ChooseFormat } from './media-type.js';
import { Responder, type RequestState } from './responder.js';
import { SnapshotKeeper } from './snapshot-keeper.js';

const MAX_KNOWN_URLS = 5000;
const MAX_URL_LENGTH = 500;
const NO_WISH = { noCache: false, onlyIfCached: false, maxAge: null };

/** What an address asks, found valid once. */
interface KnownUrl {
  /** As `Answers` knows it. */
  readonly question: string;
  /** Its template, for the log. */
  readonly route: string | null;
  /** How Accept is read; null when the address says JSON. */
  readonly choose: ChooseFormat | null;
}

/**
 * The short way for what is asked again and again: an address that has been validated once, whose answer is there and
 * fresh, is answered right behind the door, before any router. All else goes the way through the controllers.
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
    // whoever comes here may come in: the door has looked at him before
    this.adapterHost.httpAdapter
      .getInstance<FastifyInstance>()
      .answerFirst((state, response) => this.#answer(state, response));
  }

  /** For a request whose address was found valid, and that was answered with JSON. */
  remember(
    { raw: { url }, state: { route } }: FastifyRequest,
    question: string,
    accept: 'list' | 'json' | 'any',
  ): void {
    if (url === undefined || url.length > MAX_URL_LENGTH || this.#known.has(url)) return;
    this.#known.set(url, {
      question,
      route,
      choose: accept === 'any' ? null : accept === 'list' ? chooseListFormat : chooseJson,
    });
  }

  #answer(state: RequestState, response: ServerResponse): boolean {
    const { headers, url = '' } = state.request;
    const known = this.#known.get(url);
    if (!known || headers['cache-control'] !== undefined) return false;
    if (known.choose && known.choose(headers.accept) !== 'json') return false;
    const served = this.keeper.getHeld(NO_WISH);
    const rendered = served && this.answers.ready(served, known.question);
    if (!rendered || !this.responder.sendReady(state, response, served, rendered)) return false;
    state.route = known.route;
    return true;
  }
}
