import { describe, expect, it } from '@jest/globals';
import { parseBasic } from './basic-credentials.js';

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

describe('parseBasic', () => {
  it('reads user and password, UTF-8 and colons in the password included', () => {
    expect(parseBasic(`Basic ${encode('üser:pä:ss')}`)).toEqual({ username: 'üser', password: 'pä:ss' });
    expect(parseBasic(`basic ${encode(':')}`)).toEqual({ username: '', password: '' });
  });

  it.each([
    undefined,
    '',
    'Basic',
    'Basic ',
    'Basic a',
    'Basic YQ==',
    'Basic YTpi!',
    'Basic //86',
    'Bearer YTpi',
    'Basic YTpi x',
  ])('refuses %s', (header) => expect(parseBasic(header)).toBeNull());
});
