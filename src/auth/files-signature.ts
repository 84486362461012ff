import { statSync } from 'node:fs';

/**
 * What the file system says of these files, through symbolic links, as one text that differs when a file was written,
 * replaced by rename, or its link led elsewhere (as Kubernetes does with secrets). A missing file has a signature too.
 */
export function filesSignature(paths: readonly string[]): string {
  return paths.map(signature).join('\n');
}

function signature(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [path, dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return `${path} ${(error as NodeJS.ErrnoException).code}`;
  }
}
