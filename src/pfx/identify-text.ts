import { GIVE_PFX, toNotPfx, type PfxUnreadable, type SettingNames } from './pfx-unreadable.js';
import { startsLikePfx } from './pfx-header.js';
import { DECODE_BASE64, DECODE_PEM, PFX_FROM_ONE_PEM, PFX_FROM_PEM, PFX_FROM_PEM_P7B } from './remedy.js';

/** Text in place of a PFX, named by what it holds; undefined for binary. */
export function identifyText(bytes: Buffer, names: SettingNames): PfxUnreadable | undefined {
  const { encoding, text } = decodeText(bytes);
  if (text === undefined) return undefined;
  const { what, remedy } = describeText(text.trim(), names);
  if (encoding === 'UTF-8') return toNotPfx(what, remedy);
  return toNotPfx(
    `${encoding} text, as Windows PowerShell writes with ">", and holds ${what}`,
    `first iconv -f ${encoding} -t UTF-8 old.pfx > old.txt, then ${remedy}`,
  );
}

interface Description {
  what: string;
  remedy: string;
}

function describeText(text: string, names: SettingNames): Description {
  if (text.includes('-----BEGIN ')) return describePem(text);
  const dense = text.replace(/\s+/g, '');
  if (startsLikePfx(fromBase64(dense))) {
    return {
      what: 'base64 text of a PFX',
      remedy: `decode it: ${DECODE_BASE64}, or give the text as ${names.base64}`,
    };
  }
  if (/^[0-9a-f]+$/i.test(dense) && startsLikePfx(Buffer.from(dense, 'hex'))) {
    return { what: 'a PFX written as hex digits', remedy: 'convert it: xxd -r -p old.txt client.pfx' };
  }
  if (/^<(!doctype html|html|head|body)/i.test(text)) {
    return { what: 'an HTML page', remedy: 'download the PFX again: most likely a login or error page was saved' };
  }
  if (/^(ssh-|PuTTY-User-Key)/.test(text)) {
    return { what: 'an SSH key', remedy: GIVE_PFX };
  }
  const kind = text === '' ? 'blank text' : dense.length > 200 && isBase64(dense) ? 'base64 text' : 'text';
  return { what: kind, remedy: GIVE_PFX };
}

function describePem(text: string): Description {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)/g)];
  const labels = blocks.map(([, label = '']) => label);
  const has = (pattern: RegExp): boolean => labels.some((label) => pattern.test(label));
  if (blocks.some(([, , body = '']) => startsLikePfx(fromBase64(body)))) {
    return { what: 'base64 text of a PFX between BEGIN and END lines', remedy: `decode it: ${DECODE_PEM}` };
  }
  if (has(/OPENSSH|SSH2/)) return { what: 'an SSH key', remedy: `put a certificate and its key in: ${PFX_FROM_PEM}` };
  const key = has(/PRIVATE KEY$/);
  if (key && has(/CERTIFICATE$/)) {
    return { what: 'a PEM with certificate and private key', remedy: `convert it: ${PFX_FROM_ONE_PEM}` };
  }
  if (key) return { what: 'a PEM with a private key and no certificate', remedy: `put both in one: ${PFX_FROM_PEM}` };
  if (has(/CERTIFICATE$/)) {
    return { what: 'a PEM with a certificate and no private key', remedy: `put both in one: ${PFX_FROM_PEM}` };
  }
  if (has(/PKCS7|CMS/)) {
    return {
      what: 'a PEM with a PKCS#7 bundle of certificates and no private key',
      remedy: `put both in one: ${PFX_FROM_PEM_P7B}`,
    };
  }
  if (has(/REQUEST$/)) {
    return {
      what: 'a PEM with a certificate request',
      remedy: `put the certificate that was made for it and its key in: ${PFX_FROM_PEM}`,
    };
  }
  return { what: 'a PEM', remedy: `put certificate and key in: ${PFX_FROM_PEM}` };
}

/** Takes for text what begins with printable ASCII; no PFX does. */
function decodeText(bytes: Buffer): { encoding: string; text: string | undefined } {
  const byMark = { fffe: 'UTF-16', feff: 'UTF-16' }[bytes.toString('hex', 0, 2)];
  const encoding =
    byMark ?? (/^(?:[\t\n\r\x20-\x7e]\0){2}/.test(bytes.toString('latin1', 0, 4)) ? 'UTF-16LE' : 'UTF-8');
  const swapped = bytes[0] === 0xfe;
  const even = bytes.subarray(0, bytes.length & ~1);
  const whole =
    encoding === 'UTF-8' ? bytes.toString('utf8') : (swapped ? Buffer.from(even).swap16() : even).toString('utf16le');
  const text = whole.replace(/^\ufeff/, '');
  return { encoding, text: /^[\t\n\r\x20-\x7e]*$/.test(text.slice(0, 32)) ? text : undefined };
}

function isBase64(dense: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(dense);
}

function fromBase64(text: string): Buffer {
  const dense = text.replace(/\s+/g, '');
  return isBase64(dense) ? Buffer.from(dense, 'base64') : Buffer.alloc(0);
}
