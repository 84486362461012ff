import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import type { FixedDocument } from '../../representation/fixed-document.js';

/** Sends the `FixedDocument` that a handler returns, with its headers, in the encoding that the caller prefers. */
export class SendFixedDocument implements NestInterceptor<FixedDocument, Buffer> {
  intercept(context: ExecutionContext, next: CallHandler<FixedDocument>): Observable<Buffer> {
    const http = context.switchToHttp();
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    return next.handle().pipe(mergeMap((document) => document.answer(request, reply)));
  }
}
