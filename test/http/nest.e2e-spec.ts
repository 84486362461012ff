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
  type MiddlewareConsumer,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { Responder } from '../../src/accounts/responder.js';
import { problemSchema } from '../../src/errors/problem-document.js';
import { bankForFile } from '../support/bank-for-file.js';
import { get, prepareGateway, startGateway, type Answer, type Gateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

const PATH = '/api/v1/accounts';

/** What the guard and the interceptor below saw, by client name. */
const seen: string[] = [];
let refusal: Error | null = null;
/** The error that the pipe below throws, and the number of controller arguments that it has seen. */
let pipeError: Error | null = null;
let piped = 0;
beforeEach(() => {
  seen.length = 0;
  refusal = null;
  pipeError = null;
  piped = 0;
});

function note(by: string, context: ExecutionContext): void {
  seen.push(`${by} ${context.switchToHttp().getRequest<FastifyRequest>().headers['x-client-name']}`);
  if (refusal) throw refusal;
}

@Injectable()
class Watchman implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    note('guard', context);
    return true;
  }
}

@Injectable()
class Witness implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    note('interceptor', context);
    return next.handle();
  }
}

@Injectable()
class CountingPipe implements PipeTransform {
  transform(value: unknown): unknown {
    piped++;
    if (pipeError) throw pipeError;
    return value;
  }
}

/** Calls every kind of route. The first call asks the bank, later ones may be served from the cache. Returns the client names. */
async function askInEveryShape({ url }: Gateway, status?: number): Promise<string[]> {
  const cold = await get(`${url}${PATH}`, { 'x-client-name': 'cold' });
  const shapes: { name: string; path?: string; method?: string; headers?: Record<string, string>; usual?: number }[] = [
    { name: 'hot' },
    { name: 'compressed', headers: { 'accept-encoding': 'br' } },
    { name: 'not-modified', headers: { 'if-none-match': cold.headers.etag ?? '*' }, usual: 304 },
    { name: 'head', method: 'HEAD' },
    { name: 'csv', path: `${PATH}?format=csv` },
    { name: 'balances', path: '/api/v1/balances' },
    { name: 'balances-again', path: '/api/v1/balances' },
  ];
  for (const { name, path = PATH, method, headers, usual = 200 } of shapes) {
    const answer = await get(`${url}${path}`, { 'x-client-name': name, ...headers }, method);
    expect([name, answer.status]).toEqual([name, status ?? usual]);
  }
  return ['cold', ...shapes.map(({ name }) => name)];
}

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(problemSchema.parse(answer.json)).toMatchObject({ status, code });
  expect(answer.status).toBe(status);
  expect(answer.headers['x-request-id']).toBe((answer.json as { requestId: string }).requestId);
}

describe('a module with a global guard, interceptor, pipe and filter', () => {
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
      { provide: APP_PIPE, useClass: CountingPipe },
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

  it('sees every request, cached or not, and the controller runs', async () => {
    const serve = jest.spyOn(gateway.app.get(Responder), 'sendJson');
    const shapes = await askInEveryShape(gateway);
    expect(seen).toEqual(shapes.flatMap((name) => [`guard ${name}`, `interceptor ${name}`]));
    expect(piped).toBeGreaterThanOrEqual(shapes.length);
    // all but CSV
    expect(serve).toHaveBeenCalledTimes(shapes.length - 1);
  });

  it('can reject each request, also one with a cached response', async () => {
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
  ])('can reject with %i, which keeps its status and becomes %s', async (status, code, thrown) => {
    refusal = thrown;
    expectProblem(await gateway.get(PATH), status, code);
    await until(() => gateway.events('request').at(-1)?.['status'] === status);
    expect(gateway.events('request').at(-1)).toMatchObject({ code, route: PATH });
    expect(gateway.events('request.failed')).toEqual([]);
  });

  it('can reject each request in a pipe', async () => {
    pipeError = new ForbiddenException();
    const shapes = await askInEveryShape(gateway, 403);
    expect(piped).toBe(shapes.length);
  });

  it.each(['guard', 'pipe'])(
    'handles the errors of a %s that its filter catches, on every kind of route',
    async (thrower) => {
      if (thrower === 'guard') refusal = new QuotaSpent();
      else pipeError = new QuotaSpent();
      await askInEveryShape(gateway, 429);
      const { status, json } = await gateway.get(PATH);
      expect([status, json]).toEqual([429, { quota: 'spent' }]);
    },
  );

  it('the negative case: any other error is internal-error, without its message', async () => {
    refusal = new Error('hunter2');
    const answer = await gateway.get(PATH);
    expectProblem(answer, 500, 'internal-error');
    expect(answer.text + gateway.lines.join('')).not.toContain('hunter2');
    expect(gateway.events('request.failed')).toHaveLength(1);
  });
});

describe('middleware of a module', () => {
  const startWith = async (use: (request: unknown, response: unknown, next: () => void) => unknown) => {
    @Module({})
    class RefusingModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(use).forRoutes('*all');
      }
    }
    Module({ imports: [RefusingModule] })(AppModule);
    const gateway = await startGateway(bank);
    Reflect.deleteMetadata('imports', AppModule);
    return gateway;
  };
  const refuse = () => {
    throw new ForbiddenException();
  };

  it.each([
    ['at once', refuse],
    ['later', async () => Promise.resolve().then(refuse)],
  ])('that throws %s leads to a problem document, the usual headers and a log line', async (_name, use) => {
    const gateway = await startWith(use);
    const answer = await gateway.get(PATH, { 'x-request-id': 'mine' });
    expectProblem(answer, 403, 'client-not-allowed');
    expect(answer.headers).toMatchObject({ 'x-request-id': 'mine', 'x-content-type-options': 'nosniff' });
    await until(() => gateway.events('request').length === 1);
    expect(gateway.events('request')[0]).toMatchObject({ status: 403, code: 'client-not-allowed' });
  });

  it('that throws after next() does not replace the response', async () => {
    const gateway = await startWith((_request, _response, next) => {
      next();
      refuse();
    });
    for (let round = 0; round < 5; round++) expect([200, 403]).toContain((await gateway.get(PATH)).status);
    expect((await gateway.get('/health/live')).status).toBeLessThan(500);
  });

  it('the negative case: that only calls next() changes nothing', async () => {
    const gateway = await startWith((_request, _response, next) => next());
    expect((await gateway.get(PATH)).status).toBe(200);
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

  it('is guarded and logged, and returns Allow, like all others', async () => {
    const gateway = await startGateway(bank);
    expect((await gateway.get('/added?a=1&a=2')).json).toEqual({ a: ['1', '2'] });
    expectProblem(await gateway.get('/added', { host: 'evil.example' }), 421, 'host-not-allowed');
    const refused = await get(`${gateway.url}/added`, {}, 'DELETE');
    expectProblem(refused, 405, 'method-not-allowed');
    expect(refused.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect(refused.json).toMatchObject({ detail: 'DELETE is not allowed here, only GET, HEAD, OPTIONS.' });
    await until(() => gateway.events('request').length === 3);
    expect(gateway.events('request').map(({ route, status }) => [route, status])).toEqual([
      ['/added', 200],
      ['/added', 421],
      ['/added', 405],
    ]);
  });
});

describe('app.close() without a signal', () => {
  const serveSome = async (app: NestFastifyApplication) => {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    for (const path of [PATH, PATH, '/health', '/nothing']) await get(`http://127.0.0.1:${port}${path}`);
    // a connection that never sends anything
    connect(port, '127.0.0.1').on('error', () => undefined);
  };

  it.each([
    ['that was started and never listened', (app: NestFastifyApplication) => app.init()],
    ['that served', serveSome],
  ])('%s leaves no timer, socket or worker', async (_name, use) => {
    const before = process.getActiveResourcesInfo().length;
    const { app } = await prepareGateway(bank);
    await use(app);
    await app.close();
    await until(() => process.getActiveResourcesInfo().length <= before);
    await until(() => bank.sockets.size === 0);
  });
});

it('an added hook sees every request that the guard allows, also for an unknown path or with an unfinished body', async () => {
  const paths: string[] = [];
  const prepared = await prepareGateway(bank);
  prepared.app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async ({ url }: FastifyRequest) => void paths.push(url));
  const gateway = await prepared.listen();
  const asked = [PATH, PATH, '/health/live', '/nothing', '/docs'];
  for (const path of asked) await gateway.get(path);
  await get(`${gateway.url}/nothing`, { 'content-type': 'application/json' }, 'POST');
  expect(paths).toEqual([...asked, '/nothing']);
});
