import { describe, expect, it } from '@jest/globals';
import { isValidIBAN } from 'ibantools';
import { maskBody } from './mask-body.js';
import { Mask } from './mask.js';

const shapeOf = (text: string) =>
  text
    .replaceAll(/\p{Lu}/gu, 'A')
    .replaceAll(/\p{Ll}/gu, 'a')
    .replaceAll(/\p{Lo}/gu, 'o')
    .replaceAll(/\p{Nd}/gu, '9');

describe('a mask', () => {
  it.each(['Müller & Söhne GmbH', '東京サンプル株式会社', 'Ελλάδα "κύριος" حساب', '0012345678', 'A', 'HRB 4471', '٣٤'])(
    'replaces each letter and digit of %s with another of its kind: the same for equal values, others in another mask',
    (value) => {
      const mask = new Mask();
      const masked = mask.text(value);
      expect(shapeOf(masked)).toBe(shapeOf(value));
      const [before, after] = [Array.from(value), Array.from(masked)];
      for (const [index, character] of after.entries()) {
        if (/[\p{L}\p{Nd}]/u.test(character)) expect(character).not.toBe(before[index]);
      }
      expect(mask.text(value)).toBe(masked);
      if (value.length > 5) expect(new Mask().text(value)).not.toBe(masked);
    },
  );

  it.each([
    'LU060408592157516019',
    'DE89370400440532013000',
    'FR1420041010050500013M02606',
    'GB29NWBK60161331926819',
    'NO9386011117947',
    'BE68539007547034',
    'ES9121000418450200051332',
    'IT60X0542811101000000123456',
    'PL61109010140000071219812874',
  ])('keeps an IBAN a valid one of its country, also in lower case and with spaces: %s', (iban) => {
    const mask = new Mask();
    const masked = mask.text(iban);
    expect(masked).not.toBe(iban);
    expect(masked.slice(0, 2)).toBe(iban.slice(0, 2));
    expect(isValidIBAN(masked)).toBe(true);
    const spaced = (text: string) => text.replaceAll(/(.{4})(?=.)/g, '$1 ');
    expect(mask.text(spaced(iban))).toBe(spaced(masked));
    expect(mask.text(iban.toLowerCase())).toBe(masked.toLowerCase());
  });

  it.each(['①②③', 'ⅧⅨ', '²³¹', '½¾', '🅰🅱🄰', 'ⒽⒶⓃⓢ', 'हिंदी'])(
    'replaces letters and digits of an unusual form too: %s',
    (value) => {
      const masked = Array.from(new Mask().text(value));
      for (const [index, character] of Array.from(value).entries()) expect(masked[index]).not.toBe(character);
    },
  );

  it.each(['1871-03-04', '1899-07-01T00:00:00'])('replaces the date of an old company: %s', (value) => {
    expect(new Mask().text(value)).not.toBe(value);
  });

  it.each(['0001-01-01', '0001-01-01T00:00:00Z'])('keeps a date that means "no date": %s', (value) => {
    expect(new Mask().text(value)).toBe(value);
  });

  it.each([
    ['2026-11-20T14:03:22.5+02:00', /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\+02:00$/],
    ['2021-06-30T00:00:00+00:00', /^20\d\d-\d\d-\d\dT00:00:00\+00:00$/],
    ['2025-07-08', /^20\d\d-\d\d-\d\d$/],
    ['0001-01-01T00:00:00', /^0001-01-01T00:00:00$/],
  ])('keeps the form of a date, which stays a date: %s', (value, form) => {
    const masked = new Mask().text(value);
    expect(masked).toMatch(form);
    expect(Date.parse(masked)).not.toBeNaN();
  });

  it.each(['19435.50', '-0.01', '12345678901234567.89', '1.5E3', '7', '100', '-2500000.00', '1'])(
    'keeps the sign of a number, how many digits are before and after its point, and an exponent: %s',
    (value) => {
      for (let times = 0; times < 20; times++) {
        const masked = new Mask().number(value);
        expect(masked.replaceAll(/\d(?!\d*$)|\d/g, '9')).toBe(value.replaceAll(/\d/g, '9'));
        expect(masked).not.toBe(value);
        expect(() => JSON.parse(masked) as unknown).not.toThrow();
      }
    },
  );
  it('takes about ten times as much CPU time for a page that is ten times as long', () => {
    /** CPU time, which other processes do not change. */
    const timeOf = (length: number) => {
      const before = process.cpuUsage();
      new Mask().text('<p>Nordlys'.repeat(length / 10));
      return process.cpuUsage(before).user;
    };
    timeOf(50_000);
    // quadratic time would be a hundred times as long
    expect(timeOf(500_000)).toBeLessThan(40 * timeOf(50_000));
  });

  it('keeps a zero', () => expect(new Mask().number('0.00')).toBe('0.00'));
});

describe('a masked body', () => {
  const mask = (body: string) => maskBody(body, new Mask(), new Set(['secret']));

  it('keeps keys, nulls, booleans, numbers of the envelope and words of open lists, and nothing else', () => {
    const body =
      '{"result":[{"status":"Frozen","currency":"EUR","friendlyName":"Payroll","isVip":true,"limit":null}],"pageInfo":{"currentPage":1,"pageSize":50,"rowCount":120}}';
    const masked = mask(body);
    expect(masked).not.toContain('Payroll');
    expect(masked.replace(/"friendlyName":"[A-Z][a-z]{6}"/, '"friendlyName":"Payroll"')).toBe(body);
  });

  it.each(['{"result":[{"expires_in":"4471"}]}', '{"result":{"a":{"pageSize":4471}}}'])(
    'masks the value in %s',
    (body) => {
      expect(mask(body)).not.toContain('4471');
    },
  );

  it('masks a secret in place of a word of an open list', () => {
    expect(mask('{"result":[{"status":"Secret","type":"Public"}]}')).toMatch(
      /"status":"(?!Secret)\w+","type":"Public"/,
    );
  });

  it('keeps a currency and the numbers of the envelope, also if they are parts of a secret', () => {
    const body = '{"result":[{"currency":"EUR"}],"pageInfo":{"rowCount":120}}';
    expect(maskBody(body, new Mask(), new Set(['eur', '120']))).toBe(body);
  });

  it('masks a number in an account, whatever its key', () => {
    const masked = mask('{"result":[{"rowCount":482915,"balances":[{"status":404}]}],"pageInfo":{"rowCount":482915}}');
    expect(masked).toMatch(/^\{"result":\[\{"rowCount":(?!482915)\d{6},"balances":\[\{"status":(?!404)\d{3}\}\]\}\]/);
    expect(masked).toMatch(/"pageInfo":\{"rowCount":482915\}\}$/);
  });

  it('keeps the form of a number, and masks a document that is nested too deeply', () => {
    expect(mask('{"limit":-10.50E+2}')).toMatch(/^\{"limit":-\d\d\.\d\dE\+2\}$/);
    expect(mask(`${'['.repeat(50_000)}"Nordlys"${']'.repeat(50_000)}`)).not.toContain('Nordlys');
  });

  it('keeps a plain key, and masks one that may be data', () => {
    const masked = mask('{"Nordlys":1,"Nordlys Handel":2,"LU060408592157516019":3,"netRate":4}');
    expect(Object.keys(JSON.parse(masked) as object)).toEqual([
      'Nordlys',
      expect.stringMatching(/^\*[A-Z][a-z]{6} [A-Z][a-z]{5}$/),
      expect.stringMatching(/^\*LU\d{18}$/),
      'netRate',
    ]);
    expect(masked).not.toMatch(/Handel|LU060408592157516019/);
  });

  it.each(['{"type":"Nordlys"}', '"Nordlys"', '\ufeff{"a":"Nordlys"}', ''])(
    'masks the texts of a document, and anything else as one text: %j',
    (body) => {
      expect(mask(body)).not.toContain('Nordlys');
      expect(mask(body)).toHaveLength(body.length);
    },
  );
});
