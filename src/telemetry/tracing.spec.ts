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
    '%j turns traces off, without a warning',
    async (off) => {
      expect(await start({ ...NOWHERE, OTEL_BSP_MAX_QUEUE_SIZE: '5', ...(off as Record<string, string>) })).toEqual({
        warnings: [],
        isTraced: false,
      });
    },
  );

  it('cause no warning if they have an effect, or if their value is the default', async () => {
    const good = { OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=b', OTEL_SDK_DISABLED: 'false' };
    const asItIs = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_BSP_X: '' };
    expect(await start({ ...NOWHERE, ...good, ...asItIs })).toEqual({ warnings: [], isTraced: true });
  });

  it('are named in one warning if they have no effect, without their values', async () => {
    const without = { OTEL_BSP_SCHEDULE_DELAY: '7', OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_PROPAGATORS: 'b3' };
    for (const endpoint of [NOWHERE, {}]) {
      const { warnings } = await start({ ...endpoint, ...without });
      expect(warnings).toEqual([
        expect.stringContaining('no effect here: OTEL_BSP_SCHEDULE_DELAY, OTEL_TRACES_SAMPLER, OTEL_PROPAGATORS ('),
      ]);
      await tracing?.stop(0);
    }
  });
});
