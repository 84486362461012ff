import { connect, type AddressInfo } from 'node:net';
import {
  Catch,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Query,
  UnauthorizedException,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { Responder } from '../../src/accounts/responder.js';
import { problemSchema } from '../../src/problems/problem-document.js';
import { bankForFile } from '../support/bank-for-file.js';
import { get, prepareGateway, startGateway, type Answer, type Gateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

const PATH = '/api/v1/accounts';

/** What the guards and interceptors below have seen, as method, URL and client. */
const seen: string[] = [];
let refusal: Error | null = null;
beforeEach(() => {
  seen.length = 0;
  refusal = null;
});

function note(by: string, { method, url, headers }: FastifyRequest | FastifyRequest['raw']): void {
  seen.push(`${by} ${method} ${url} ${String(headers['x-client-name'])}`);
}

@Injectable()
class Watchman implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    note('guard', context.switchToHttp().getRequest<FastifyRequest>());
    if (refusal) throw refusal;
    return true;
  }
}

@Injectable()
class Witness implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    note('interceptor', context.switchToHttp().getRequest<FastifyRequest>());
    if (refusal) throw refusal;
    return next.handle();
  }
}

interface Shape {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly status?: number;
}

/** Every way an answer is made: the first asks the bank, those after it could come from a cache. */
async function askInEveryShape({ url }: Gateway, status = 200): Promise<Shape[]> {
  const { headers } = await get(`${url}${PATH}`, { 'x-client-name': 'cold' });
  const etag = headers.etag ?? '*';
  const shapes: Shape[] = [
    { name: 'hot', path: PATH },
    { name: 'compressed', path: PATH, headers: { 'accept-encoding': 'br' } },
    { name: 'not-modified', path: PATH, headers: { 'if-none-match': etag }, ...(status === 200 && { status: 304 }) },
    { name: 'head', method: 'HEAD', path: PATH },
    { name: 'csv', path: `${PATH}?format=csv` },
    { name: 'balances', path: '/api/v1/balances' },
    { name: 'balances-again', path: '/api/v1/balances' },
  ];
  for (const { name, method, path, headers, status: expected = status } of shapes) {
    const answer = await get(`${url}${path}`, { 'x-client-name': name, ...headers }, method);
    expect([name, answer.status]).toEqual([name, expected]);
  }
  return [{ name: 'cold', path: PATH }, ...shapes];
}

const asSeenBy = (by: string, shapes: readonly Shape[]) =>
  shapes.map(({ name, method = 'GET', path }) => `${by} ${method} ${path} ${name}`);
const seenBy = (by: string) => seen.filter((each) => each.startsWith(by));

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(problemSchema.parse(answer.json)).toMatchObject({ status, code });
  expect(answer.status).toBe(status);
  expect(answer.headers['x-request-id']).toBe((answer.json as { requestId: string }).requestId);
}

describe('a module with a global guard, interceptor and filter', () => {
  class QuotaSpent extends Error {}
  @Catch(QuotaSpent)
  class QuotaFilter implements ExceptionFilter {
    catch(_spent: QuotaSpent, host: ArgumentsHost): void {
      void host.switchToHttp().getResponse<FastifyReply>().code(429).send({ quota: 'spent' });
    }
  }
  @Module({
    providers: [
      { provide: APP_GUARD, useClass: Watchman },
      { provide: APP_INTERCEPTOR, useClass: Witness },
      { provide: APP_FILTER, useClass: QuotaFilter },
    ],
  })
  class QuotaModule {}
  let gateway: Gateway;
  beforeAll(async () => {
    Module({ imports: [QuotaModule] })(AppModule);
    gateway = await startGateway(bank);
  });
  afterAll(() => void Reflect.deleteMetadata('imports', AppModule));

  it('sees every request and its controller runs, however the answer comes', async () => {
    const serve = jest.spyOn(gateway.app.get(Responder), 'sendJson');
    const shapes = await askInEveryShape(gateway);
    expect(seenBy('guard')).toEqual(asSeenBy('guard', shapes));
    expect(seenBy('interceptor')).toEqual(asSeenBy('interceptor', shapes));
    // all but the CSV
    expect(serve).toHaveBeenCalledTimes(shapes.length - 1);
  });

  it('refuses each of them, also when its answer is there already', async () => {
    refusal = new ForbiddenException('Treasury only.');
    await askInEveryShape(gateway, 403);
    const answer = await gateway.get(PATH);
    expectProblem(answer, 403, 'client-not-allowed');
    expect(answer.json.detail).toBe('Treasury only.');
    expectProblem(await gateway.get('/nothing'), 404, 'not-found');
  });

  it.each([
    [401, 'client-not-allowed', new UnauthorizedException('Log in first.')],
    [404, 'not-found', new NotFoundException('Not for you.')],
    [429, 'invalid-request', new HttpException('Later, please.', 429)],
  ])('may refuse with %i, which becomes %s and keeps its status', async (status, code, thrown) => {
    refusal = thrown;
    expectProblem(await gateway.get(PATH), status, code);
    await until(() => gateway.events('request').at(-1)?.['status'] === status);
    expect(gateway.events('request').at(-1)).toMatchObject({ code, route: PATH });
    expect(gateway.events('request.failed')).toEqual([]);
  });

  it('answers the errors that its filter catches', async () => {
    refusal = new QuotaSpent();
    const { status, json } = await gateway.get(PATH);
    expect([status, json]).toEqual([429, { quota: 'spent' }]);
  });

  it('the negative case: any other error is internal, and its message stays inside', async () => {
    refusal = new Error('hunter2');
    const answer = await gateway.get(PATH);
    expectProblem(answer, 500, 'internal-error');
    expect(answer.text + gateway.lines.join('')).not.toContain('hunter2');
    expect(gateway.events('request.failed')).toHaveLength(1);
  });
});

describe('what is added to the app before it listens', () => {
  it('hooks of Fastify see every request, those without a route and of other methods as well, and may refuse', async () => {
    const { app, listen } = await prepareGateway(bank);
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onRequest', (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
      note('onRequest', request);
      done(refusal ?? undefined);
    });
    fastify.addHook('onResponse', (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      note('onResponse', request);
      done();
    });
    const gateway = await listen();
    const shapes = await askInEveryShape(gateway);
    await gateway.get('/nothing', { 'x-client-name': 'unknown' });
    await get(`${gateway.url}${PATH}`, { 'x-client-name': 'purge' }, 'PURGE');
    const all: Shape[] = [
      ...shapes,
      { name: 'unknown', path: '/nothing' },
      { name: 'purge', method: 'PURGE', path: PATH },
    ];
    await until(() => seen.length === 2 * all.length);
    expect(seenBy('onRequest')).toEqual(asSeenBy('onRequest', all));
    expect(seenBy('onResponse')).toEqual(asSeenBy('onResponse', all));

    refusal = new UnauthorizedException();
    expectProblem(await gateway.get(PATH), 401, 'client-not-allowed');
    const before = seenBy('onRequest').length;
    // the guard of the edge comes first
    expectProblem(await gateway.get(PATH, { host: 'evil.example' }), 421, 'host-not-allowed');
    expect(seenBy('onRequest')).toHaveLength(before);
  });

  it('middleware sees every request, and one that throws is answered with a problem document', async () => {
    const { app, listen } = await prepareGateway(bank);
    app.use((request: FastifyRequest['raw'], _response: unknown, next: (error?: Error) => void) => {
      note('middleware', request);
      next(refusal ?? undefined);
    });
    const gateway = await listen();
    const shapes = await askInEveryShape(gateway);
    expect(seen).toEqual(asSeenBy('middleware', shapes));
    refusal = new ForbiddenException();
    expectProblem(await gateway.get(PATH), 403, 'client-not-allowed');
  });
});

describe('a controller that is added', () => {
  @Controller('added')
  class AddedController {
    @Get()
    read(@Query('a') a: unknown) {
      return { a };
    }
  }
  @Module({ controllers: [AddedController] })
  class AddedModule {}
  beforeEach(() => void Module({ imports: [AddedModule] })(AppModule));
  afterEach(() => void Reflect.deleteMetadata('imports', AppModule));

  it('is guarded, logged and lists its methods like all others', async () => {
    const gateway = await startGateway(bank);
    expect((await gateway.get('/added?a=1&a=2')).json).toEqual({ a: ['1', '2'] });
    expectProblem(await gateway.get('/added', { host: 'evil.example' }), 421, 'host-not-allowed');
    const refused = await get(`${gateway.url}/added`, {}, 'DELETE');
    expectProblem(refused, 405, 'method-not-allowed');
    expect(refused.headers.allow).toBe('GET, HEAD, OPTIONS');
    await until(() => gateway.events('request').length === 3);
    expect(gateway.events('request').map(({ route, status }) => [route, status])).toEqual([
      ['/added', 200],
      ['/added', 421],
      ['/added', 405],
    ]);
  });
});

describe('a bare close of the app', () => {
  /** What keeps or may keep the process, as Node names it, without what was there `before`. */
  const resourcesSince = (before: readonly string[]) => {
    const known = [...before];
    return process.getActiveResourcesInfo().filter((name) => {
      const at = known.indexOf(name);
      if (at !== -1) known.splice(at, 1);
      return at === -1;
    });
  };

  it.each([
    ['that never was started', async () => undefined],
    ['that was started and never listened', (app: NestFastifyApplication) => app.init()],
    [
      'that served',
      async (app: NestFastifyApplication) => {
        await app.listen(0, '127.0.0.1');
        const { port } = app.getHttpServer().address() as AddressInfo;
        for (const path of [PATH, PATH, '/health', '/nothing']) await get(`http://127.0.0.1:${port}${path}`);
        // stays open, and has never sent anything
        connect(port, '127.0.0.1').on('error', () => undefined);
      },
    ],
  ])('%s leaves no timer, socket or worker', async (_name, use) => {
    const before = process.getActiveResourcesInfo();
    const { app } = await prepareGateway(bank);
    await use(app);
    await app.close();
    await until(() => resourcesSince(before).length === 0);
    await until(() => bank.sockets.size === 0);
  });
});
