import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventStreamParser, type StreamEvent } from '../../client/src/watch/event-stream-parser.js';

function parse(...pieces: string[]) {
  const events: StreamEvent[] = [];
  const retries: number[] = [];
  const parser = new EventStreamParser({ onEvent: (event) => events.push(event), onRetry: (ms) => retries.push(ms) });
  for (const piece of pieces) parser.push(piece);
  return { events, retries };
}

describe('an event stream', () => {
  it('is read by its fields', () => {
    const { events, retries } = parse('retry: 3000\nid: 7\nevent: snapshot\ndata: {"a":\ndata:  1}\n\n: a comment\n\n');
    expect(events).toEqual([{ type: 'snapshot', data: '{"a":\n 1}', id: '7' }]);
    expect(retries).toEqual([3000]);
  });

  it.each<[string, string, StreamEvent[]]>([
    ['an id alone', 'id: 8\n\n', [{ type: '', data: null, id: '8' }]],
    ['an id that is taken back', 'id\n\n', [{ type: '', data: null, id: '' }]],
    ['data without a space, and none at all', 'data:x\n\ndata\n\n', [event('x'), event('')]],
    ['a colon in a value', 'data: a: b\n\n', [event('a: b')]],
    ['what is not complete', 'data: a\n', []],
    ['an event without data', 'event: x\n\ndata: y\n\n', [event('y')]],
    ['fields nobody knows', 'data : a\nfoo: b\nretry: soon\n\n', []],
    ['an id with a NUL', 'id: a\0\ndata: b\n\n', [event('b')]],
  ])('%s', (_name, text, expected) => {
    expect(parse(text).events).toEqual(expected);
  });

  it('is the same with every line end, wherever it is cut', () => {
    const lines = ['id: 1', 'event: state', 'data: ä', 'data: b', '', ': c', '', 'data: d', '', ''];
    const expected = parse(lines.join('\n')).events;
    expect(expected).toHaveLength(2);
    fc.assert(
      fc.property(fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(60)), (end, cuts) => {
        // after a CR the next piece may begin with its LF
        const text = `${lines.join(end)}:`;
        const places = [0, ...cuts.map((cut) => cut % text.length).sort((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
        expect(parse(...pieces).events).toEqual(expected);
      }),
    );
  });
});

function event(data: string): StreamEvent {
  return { type: '', data, id: null };
}
