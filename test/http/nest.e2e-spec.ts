import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
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
  StreamableFile,
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
import { ConfigService } from '@nestjs/config';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { Responder } from '../../src/accounts/responder.js';
import { problemSchema } from '../../src/errors/problem-document.js';
import { bankForFile } from '../support/bank-for-file.js';
import { get, type Answer } from '../support/call.js';
import { prepareGateway, type Gateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

const PATH = '/api/v1/accounts';

/** The calls seen by the guard and the interceptor below, by client name. */
const seen: string[] = [];
let rejection: Error | null = null;
/** The error thrown by the pipe below, and the number of controller arguments that it has seen. */
let pipeError: Error | null = null;
let piped = 0;
beforeEach(() => {
  seen.length = 0;
  rejection = null;
  pipeError = null;
  piped = 0;
});

function note(by: string, context: ExecutionContext): void {
  seen.push(`${by} ${context.switchToHttp().getRequest<FastifyRequest>().headers['x-client-name']}`);
  if (rejection) throw rejection;
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

/**
 * Calls every kind of route. The first call goes to the bank; later ones may be served from the cache. Returns the
 * client names.
 */
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

/** The behavior of the middleware below, and the paths seen by the hook below. */
let middleware: (next: () => void) => unknown = (next) => next();
const hooked: string[] = [];

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(problemSchema.parse(answer.json)).toMatchObject({ status, code });
  expect(answer.status).toBe(status);
  expect(answer.headers['x-request-id']).toBe((answer.json as { requestId: string }).requestId);
}

/** Ends the waiting responses. */
const held: (() => void)[] = [];

class QuotaSpent extends Error {}
@Catch(QuotaSpent)
class QuotaFilter implements ExceptionFilter {
  catch(_spent: QuotaSpent, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(429).send({ quota: 'spent' });
  }
}

@Controller('added')
class AddedController {
  @Get()
  read(@Query('a') a: unknown) {
    return { a };
  }

  @Get('broken')
  broken() {
    const pieces = function* () {
      yield Buffer.from('begun');
      throw new Error('broken');
    };
    return new StreamableFile(Readable.from(pieces(), { objectMode: false }));
  }

  @Get('slow')
  slow() {
    return new Promise((resolve) => held.push(() => resolve({})));
  }

  @Get('never')
  never() {
    return new Promise(() => held.push(() => undefined));
  }
}

@Module({
  controllers: [AddedController],
  providers: [
    { provide: APP_GUARD, useClass: Watchman },
    { provide: APP_INTERCEPTOR, useClass: Witness },
    { provide: APP_PIPE, useClass: CountingPipe },
    { provide: APP_FILTER, useClass: QuotaFilter },
  ],
})
class AddedModule {
  configure(consumer: MiddlewareConsumer): void {
    const use = (_request: unknown, _response: unknown, next: () => void) => middleware(next);
    consumer.apply(use).forRoutes('*all');
  }
}

let gateway: Gateway;
beforeAll(async () => {
  Module({ imports: [AddedModule] })(AppModule);
  const prepared = await prepareGateway(bank);
  Reflect.deleteMetadata('imports', AppModule);
  const fastify = prepared.app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', async ({ url }: FastifyRequest) => void hooked.push(url));
  gateway = await prepared.listen();
});

/** The log lines of the requests with this id, once there are this many. */
async function linesOf(requestId: string, count = 1) {
  const lines = () => gateway.events('request').filter((line) => line['requestId'] === requestId);
  await until(() => lines().length === count);
  return lines();
}

describe('a module with a global guard, interceptor, pipe and filter', () => {
  it('sees every request, cached or not, and the controller runs', async () => {
    const serve = jest.spyOn(gateway.app.get(Responder), 'sendJson');
    const shapes = await askInEveryShape(gateway);
    expect(seen).toEqual(shapes.flatMap((name) => [`guard ${name}`, `interceptor ${name}`]));
    expect(piped).toBeGreaterThanOrEqual(shapes.length);
    // all but CSV
    expect(serve).toHaveBeenCalledTimes(shapes.length - 1);
  });

  it('can reject each request, even one with a cached response', async () => {
    rejection = new ForbiddenException('Treasury only.');
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
    rejection = thrown;
    const id = `rejected-with-${status}`;
    expectProblem(await gateway.get(PATH, { 'x-request-id': id }), status, code);
    expect(await linesOf(id)).toMatchObject([{ status, code, route: PATH }]);
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
      if (thrower === 'guard') rejection = new QuotaSpent();
      else pipeError = new QuotaSpent();
      await askInEveryShape(gateway, 429);
      const { status, json } = await gateway.get(PATH);
      expect([status, json]).toEqual([429, { quota: 'spent' }]);
    },
  );

  it('the negative case: any other error is internal-error, without its message', async () => {
    rejection = new Error('hunter2');
    const answer = await gateway.get(PATH);
    expectProblem(answer, 500, 'internal-error');
    expect(answer.text + gateway.lines.join('')).not.toContain('hunter2');
    expect(gateway.events('request.failed')).toHaveLength(1);
  });
});

describe('middleware of a module', () => {
  const reject = () => {
    throw new ForbiddenException();
  };
  afterEach(() => void (middleware = (next) => next()));

  it.each([
    ['at once', reject],
    ['later', async () => Promise.resolve().then(reject)],
  ])('that throws %s leads to a problem document, the usual headers and a log line', async (name, use) => {
    middleware = use;
    const id = `thrown-${name.replace(' ', '-')}`;
    const answer = await gateway.get(PATH, { 'x-request-id': id });
    expectProblem(answer, 403, 'client-not-allowed');
    expect(answer.headers).toMatchObject({ 'x-request-id': id, 'x-content-type-options': 'nosniff' });
    expect(await linesOf(id)).toMatchObject([{ status: 403, code: 'client-not-allowed' }]);
  });

  it('that throws after next() does not replace the response', async () => {
    middleware = (next) => {
      next();
      reject();
    };
    for (let round = 0; round < 5; round++) expect([200, 403]).toContain((await gateway.get(PATH)).status);
    expect((await gateway.get('/health/live')).status).toBeLessThan(500);
  });

  it('the negative case: that only calls next() changes nothing', async () => {
    expect((await gateway.get(PATH)).status).toBe(200);
  });
});

it('ConfigService has the checked settings, and nothing else from the environment', () => {
  const config = gateway.app.get(ConfigService);
  expect([config.get('PORT'), config.get('SNAPSHOT_FRESH_MS')]).toEqual([0, gateway.settings.SNAPSHOT_FRESH_MS]);
  expect(config.get('PATH')).toBeUndefined();
});

it('an added controller is guarded and logged, and returns Allow, like all others', async () => {
  const id = { 'x-request-id': 'added' };
  expect((await gateway.get('/added?a=1&a=2', id)).json).toEqual({ a: ['1', '2'] });
  expectProblem(await gateway.get('/added', { ...id, host: 'evil.example' }), 421, 'host-not-allowed');
  const rejected = await get(`${gateway.url}/added`, id, 'DELETE');
  expectProblem(rejected, 405, 'method-not-allowed');
  expect(rejected.headers.allow).toBe('GET, HEAD, OPTIONS');
  expect(rejected.json).toMatchObject({ detail: 'DELETE is not allowed here, only GET, HEAD, OPTIONS.' });
  expect((await linesOf('added', 3)).map(({ route, status }) => [route, status])).toEqual([
    ['/added', 200],
    ['/added', 421],
    [null, 405],
  ]);
});

it('an added hook sees every request that the guard allows, also for an unknown path', async () => {
  hooked.length = 0;
  const asked = [PATH, PATH, '/health/live', '/nothing', '/docs'];
  for (const path of asked) await gateway.get(path);
  expect(hooked).toEqual(asked);
});

describe('the log has one line for each request, and the metrics count it once', () => {
  /** Requests counted by the metrics, including rejected ones. */
  const counted = async () => {
    const { text } = await gateway.get('/metrics', { 'x-client-name': 'metrics' });
    const counts = [...text.matchAll(/^http_server_request_duration_seconds_count\{(?!.*"\/metrics").*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const raw = (id: string, path: string, method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`;

  it.each([
    ['that is answered', raw('one', PATH), [['one', 200]]],
    ['with HEAD', raw('one', PATH, 'HEAD'), [['one', 200]]],
    ['for a path that no route has', raw('one', '/nothing'), [['one', 404]]],
    ['for a path that the router cannot read', raw('one', '/%zz'), [['one', 400]]],
    ['with a method that the route does not have', raw('one', PATH, 'PUT'), [['one', 405]]],
    ['whose stream breaks', raw('one', '/added/broken'), [['one', 499]]],
    [
      'behind a slow one on the same connection',
      raw('one', '/added/slow') + raw('two', PATH),
      [
        ['two', 200],
        ['one', 200],
      ],
    ],
    [
      'whose caller leaves, and those behind it',
      raw('one', '/added/never') + raw('two', PATH),
      [
        ['one', 499],
        ['two', 499],
      ],
    ],
    [
      'on a connection with more than 8',
      Array.from({ length: 12 }, (_, index) => raw(`r-${index}`, '/added/never')).join(''),
      Array.from({ length: 9 }, (_, index) => [`r-${index}`, 499]),
    ],
  ])('a request %s', async (_name, bytes, expected) => {
    const from = gateway.lines.length;
    const lines = () => gateway.lines.slice(from).map((line) => JSON.parse(line) as Record<string, unknown>);
    const mine = () => lines().filter(({ event, route }) => event === 'request' && route !== '/metrics');
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
    socket.write(bytes);
    if (bytes.includes('never')) {
      await until(() => held.length > 0);
      socket.destroy();
    } else if (bytes.includes('slow')) {
      await until(() => held.length > 0);
      for (const release of held) release();
    }
    await until(() => mine().length >= expected.length);
    socket.destroy();
    held.length = 0;
    await gateway.get('/health/live');
    const counts = (pairs: unknown[][]) => pairs.map((pair) => pair.join(' ')).toSorted();
    const seenLines = mine().filter(({ route }) => route !== '/health/live');
    expect(counts(seenLines.map(({ requestId, status }) => [requestId, status]))).toEqual(counts(expected));
    const all = () => gateway.events('request').filter(({ route }) => route !== '/metrics').length;
    await until(async () => (await counted()) === all());
  });
});

describe('app.close() without a signal', () => {
  /** A request injected by a test is answered like all others. */
  const inject = async (app: NestFastifyApplication) => {
    await app.init();
    const statuses = ['/health/live', '/nowhere'].map(async (url) => {
      return (await app.inject({ url, headers: { host: 'localhost' } })).statusCode;
    });
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  };
  const serve = async (app: NestFastifyApplication) => {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    for (const path of [PATH, PATH, '/health', '/nothing']) await get(`http://127.0.0.1:${port}${path}`);
    // a connection that never sends anything
    connect(port, '127.0.0.1').on('error', () => undefined);
  };

  it.each([
    ['of an app that never listened and was asked by injection', inject],
    ['of an app that served', serve],
  ])('%s leaves no timer, socket or worker', async (_name, use) => {
    const before = process.getActiveResourcesInfo().length;
    const sockets = bank.sockets.size;
    const { app } = await prepareGateway(bank);
    await use(app);
    await app.close();
    await until(() => process.getActiveResourcesInfo().length <= before);
    await until(() => bank.sockets.size <= sockets);
  });
});
