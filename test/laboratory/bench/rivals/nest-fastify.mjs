// Nest on Fastify at its fastest: a controller sends ready Buffers with the gateway's headers, and an onResponse hook
// writes the gateway's log line, each at once. One guard checks the Host header. There is no interceptor, cache or
// freshness. Decorators are called as functions, because Node runs this file uncompiled. argv: port, file of responses
// (ready-responses.mjs).
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Controller, Get, Module, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { pino, stdTimeFunctions } from 'pino';

const [port, file] = process.argv.slice(2);
const { keepAliveMs, responses } = JSON.parse(readFileSync(file, 'utf8'));
const logger = pino(
  { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
  pino.destination({ dest: 1, sync: false, minLength: 1 }),
);

class AccountsController {}
for (const [path, { status, headers: pairs, body: text }] of Object.entries(responses)) {
  const headers = Object.fromEntries(pairs);
  const body = text === null ? undefined : Buffer.from(text, 'base64');
  const send = (reply) => {
    reply.code(status).headers(headers).header('x-request-id', reply.request.id).send(body);
  };
  Object.defineProperty(AccountsController.prototype, path, { value: send });
  Res()(AccountsController.prototype, path, 0);
  Get(path)(AccountsController.prototype, path, Object.getOwnPropertyDescriptor(AccountsController.prototype, path));
}

class HostGuard {
  canActivate(context) {
    const { host = '' } = context.switchToHttp().getRequest().headers;
    return host.startsWith('127.0.0.1:');
  }
}
UseGuards(HostGuard)(AccountsController);
Controller()(AccountsController);

class AppModule {}
Module({ controllers: [AccountsController] })(AppModule);

const adapter = new FastifyAdapter({ logger: false, keepAliveTimeout: keepAliveMs, genReqId: () => randomUUID() });
adapter.getInstance().addHook('onResponse', (request, reply, done) => {
  const response = responses[request.url];
  if (response) {
    const { fields, message } = response.line;
    logger.info({ ...fields, requestId: request.id, ms: Math.round(reply.elapsedTime * 10) / 10 }, message);
  }
  done();
});
const app = await NestFactory.create(AppModule, adapter, { logger: ['error'] });
await app.listen(Number(port), '127.0.0.1');
