import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** The OpenAPI document of this app, built when it is first asked for. */
@Injectable()
export class ApiDocument {
  #create: (() => OpenAPIObject) | null = null;
  #document: OpenAPIObject | null = null;

  /** Nest can only describe an app that exists: `createApp` hands the description in. */
  describedBy(create: () => OpenAPIObject): void {
    this.#create = create;
  }

  get(): OpenAPIObject {
    if (!this.#create) throw new Error('the app is not described yet');
    return (this.#document ??= this.#create());
  }
}
