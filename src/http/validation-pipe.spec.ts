import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.js';
import { toInvalidRequest, ValidationPipe } from './validation-pipe.js';

const schema = z.strictObject({
  size: z.string().regex(/^\d+$/, 'must be a whole number').optional(),
  nested: z.object({ part: z.string('must be a text') }).optional(),
});

/** The problem for parameters that the schema rejects. */
function problemOf(query: object) {
  const { issues } = schema['~standard'].validate(query) as { issues?: Parameters<typeof toInvalidRequest>[0] };
  if (!issues) throw new Error('nothing was refused');
  return toInvalidRequest(issues);
}

describe('parameters that are rejected', () => {
  it('are named with the reason', () => {
    const error = problemOf({ size: 'x' });
    expect([error.code, error.status, error.detail]).toEqual(['invalid-request', 400, 'size must be a whole number.']);
    expect(error.errors).toEqual([{ name: 'size', reason: 'must be a whole number' }]);
  });

  it('are all named, each unknown one separately', () => {
    expect(problemOf({ size: 'x', colour: '1', 'a[]': '2' }).errors).toEqual([
      { name: 'size', reason: 'must be a whole number' },
      { name: 'colour', reason: 'is not a parameter of this route (see /docs)' },
      { name: 'a[]', reason: 'is not a parameter of this route (see /docs)' },
    ]);
  });

  it('are named by their path', () => {
    expect(problemOf({ nested: { part: 1 } }).errors?.[0]?.name).toBe('nested.part');
  });

  it('are cut off when their name is long', () => {
    const name = problemOf({ ['x'.repeat(5000)]: '1' }).errors?.[0]?.name;
    expect(name).toBe(`${'x'.repeat(60)}…`);
  });

  it('are named without their value', () => {
    expect(JSON.stringify(problemOf({ size: 'hunter2', colour: 'hunter2' }))).not.toContain('hunter2');
  });
});

describe('the pipe', () => {
  const pipe = new ValidationPipe();
  const sized = z.strictObject({ size: z.string().transform(Number) });

  it('returns what the schema makes of the parameters', () => {
    expect(pipe.transform({ size: '1' }, { type: 'query', schema: sized })).toEqual({ size: 1 });
  });

  it('awaits a schema that is asynchronous', async () => {
    const later = z.strictObject({ size: z.string().refine(async (text) => text === '1') });
    expect(await pipe.transform({ size: '1' }, { type: 'query', schema: later })).toEqual({ size: '1' });
    const wrong = pipe.transform({ size: '2' }, { type: 'query', schema: later });
    await expect(wrong).rejects.toBeInstanceOf(GatewayError);
  });

  it('rejects what the schema rejects', () => {
    expect(() => pipe.transform({ colour: '1' }, { type: 'query', schema: sized })).toThrow(GatewayError);
  });

  it('the negative case: returns a value without a schema as it is', () => {
    const value = { colour: '1' };
    expect(pipe.transform(value, { type: 'query' })).toBe(value);
  });
});
