import { FileUnusable, readSecretFile } from './small-file.js';

/** The 32 bytes that SNAPSHOT_KEY_FILE has as base64 or hex. @throws FileUnusable */
export function readSnapshotKey(path: string): Buffer {
  const text = readSecretFile(path).trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  throw new FileUnusable(path, 'does not contain 32 bytes as base64 or hex');
}
