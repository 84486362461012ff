import { expect, it } from '@jest/globals';
import { highlight } from './highlight.js';

it.each([
  [
    'sh',
    "curl 'a#b' # <why>",
    `curl <span class="code-string">'a#b'</span> <span class="code-comment"># &lt;why&gt;</span>`,
  ],
  [
    'ts',
    'const a = "//"; // b',
    '<span class="code-word">const</span> a = <span class="code-string">&quot;//&quot;</span>; <span class="code-comment">// b</span>',
  ],
  ['json', '{ "a": null }', '{ <span class="code-string">&quot;a&quot;</span>: <span class="code-word">null</span> }'],
  ['text', 'const a = "<b>"', 'const a = &quot;&lt;b&gt;&quot;'],
])('the syntax highlighter marks %s', (language, code, html) => {
  expect(highlight(code, language)).toBe(html);
});
