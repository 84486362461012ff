import { readdirSync, readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { builtFile } from '../config/built-file.js';
import { Settings } from '../config/settings.js';

/** The console page as Vite built it (src/console/web), read at the start: a later build may replace the files. */
@Injectable()
export class BuiltPage {
  readonly html: string;
  /** The files below /assets/ by their names, which contain a hash of their content. */
  readonly assets: ReadonlyMap<string, Buffer>;

  constructor({ mode }: Settings) {
    // so that the page shows the sandbox before it has asked anything
    this.html = readFileSync(builtFile('console/index.html'), 'utf8').replace('<html', `<html data-mode="${mode}"`);
    const directory = builtFile('console/assets/');
    this.assets = new Map(readdirSync(directory).map((name) => [name, readFileSync(new URL(name, directory))]));
  }
}
