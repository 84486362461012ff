import { afterEach, describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import { startTracing, type Tracing } from './tracing.js';

const NOWHERE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

let tracing: Tracing | null = null;
afterEach(async () => {
  await tracing?.stop(0);
  tracing = null;
});

async function start(env: Record<string, string>) {
  const log = keepLines();
  tracing = await startTracing(env, log.logger);
  return { warnings: log.lines('config.warning').map(({ msg }) => msg), isTraced: tracing !== null };
}

describe('OpenTelemetry variables', () => {
  it.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }, { OTEL_TRACES_SAMPLER: 'always_off' }])(
    '%j turn tracing off, without a warning',
    async (off) => {
      expect(await start({ ...NOWHERE, OTEL_BSP_MAX_QUEUE_SIZE: '5', ...(off as Record<string, string>) })).toEqual({
        warnings: [],
        isTraced: false,
      });
    },
  );

  it('the negative case: without them, an endpoint turns tracing on', async () => {
    expect(await start({ ...NOWHERE, OTEL_SDK_DISABLED: 'false' })).toEqual({ warnings: [], isTraced: true });
  });
});
