import { extname } from 'node:path';
import { FixedDocument } from '../../representation/fixed-document.js';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
};

/** The files that pages load or link to, by name, as they are sent. A file of another type is left out. */
export function toDocuments(files: ReadonlyMap<string, Buffer>, cacheControl: string): Map<string, FixedDocument> {
  const documents = new Map<string, FixedDocument>();
  for (const [name, file] of files) {
    const type = MEDIA_TYPES[extname(name)];
    if (type) documents.set(name, new FixedDocument(file, { 'content-type': type, 'cache-control': cacheControl }));
  }
  return documents;
}
