import { announcedBytes } from './announced-bytes.js';
import { toOtherDer } from './other-der.js';
import { toOtherText } from './other-text.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { PFX_FROM_JCEKS, PFX_FROM_JKS } from './remedy.js';

/** PFX files hold a few kilobytes; what is larger is something else. */
export const LARGEST_PFX_BYTES = 1_048_576;

const UNPACK = 'unpack it and give the PFX that is in it';

/** First bytes in hex, what such a file is, what to do. */
const MAGIC: [string, string, string][] = [
  ['feedfeed', 'a Java keystore (JKS)', `convert it: ${PFX_FROM_JKS}`],
  ['cececece', 'a Java keystore (JCEKS)', `convert it: ${PFX_FROM_JCEKS}`],
  ['504b0304', 'a ZIP archive', UNPACK],
  ['1f8b', 'a gzip archive', UNPACK],
  ['377abcaf', 'a 7-Zip archive', UNPACK],
  ['52617221', 'a RAR archive', UNPACK],
  ['25504446', 'a PDF document', 'give the PFX instead'],
  ['30efbfbd', 'a PFX that was saved as text, which destroyed it', 'copy it again, in binary mode'],
];

/** What the file is, when it is no whole PFX: the refusal that names it; undefined when it looks like one. */
export function toOtherFile(bytes: Buffer): PfxUnreadable | undefined {
  if (bytes.length === 0) return new PfxUnreadable('not-pfx', 'The PFX file is empty. Copy it again.');
  if (bytes.length > LARGEST_PFX_BYTES) {
    return new PfxUnreadable(
      'too-large',
      `The PFX file has ${bytes.length} bytes; more than ${LARGEST_PFX_BYTES} are not read, as a PFX has a few thousand. Give the right file.`,
    );
  }
  for (const [start, what, remedy] of MAGIC) {
    if (bytes.subarray(0, 4).toString('hex').startsWith(start)) {
      return new PfxUnreadable('not-pfx', `The file is ${what}, not a PFX; ${remedy}.`);
    }
  }
  return toOtherText(bytes) ?? toCutOff(bytes) ?? toOtherDer(bytes);
}

function toCutOff(bytes: Buffer): PfxUnreadable | undefined {
  const announced = announcedBytes(bytes);
  if (announced === undefined || announced <= bytes.length) return undefined;
  return new PfxUnreadable(
    'cut-off',
    `The PFX is cut off: it announces ${announced} bytes and has ${bytes.length}. Copy it again, in binary mode.`,
  );
}
