import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './closing.js';
import { pathOf } from './tools.js';

interface LeafOptions {
  key?: string;
  days?: number;
  eku?: string;
  issuer?: string;
}

/** Creates keys, certificates and PFX files in a temporary directory, with the real openssl. */
export class Workshop {
  readonly #directory = temporaryDirectory();

  run(command: string, args: string[], env: Record<string, string> = {}): Buffer {
    return execFileSync(command, args, {
      cwd: this.#directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  openssl(...args: string[]): Buffer {
    return this.run(pathOf('openssl'), args);
  }

  /** Runs openssl with arguments that have no spaces. */
  private command(text: string): void {
    this.openssl(...text.split(' '));
  }

  read(name: string): Buffer {
    return readFileSync(join(this.#directory, name));
  }

  /** Returns the path. */
  write(name: string, content: string | Buffer): string {
    const path = join(this.#directory, name);
    writeFileSync(path, content);
    return path;
  }

  /** Creates {name}.key and {name}.pem, a self-signed CA certificate. */
  makeRoot(name: string): void {
    this.makeKey(name, 'EC');
    this.command(`req -x509 -new -key ${name}.key -subj /O=Test/CN=${name} -days 9000 -out ${name}.pem`);
  }

  makeIntermediate(name: string, issuer: string, key = 'EC'): void {
    this.makeKey(name, key);
    this.sign(name, '/O=Test', issuer, 8000, 'basicConstraints=critical,CA:TRUE');
  }

  makeLeaf(name: string, { key = 'EC', days = 3000, eku = 'clientAuth', issuer = 'root' }: LeafOptions = {}): void {
    this.makeKey(name, key);
    const usage = eku === '' ? '' : `extendedKeyUsage=${eku}`;
    this.sign(name, '/C=LT/O=Company', issuer, days, `basicConstraints=CA:FALSE\n${usage}`);
  }

  /** The PFX of {name}.key and {name}.pem with a passcode. */
  makePfx(name: string, passcode: string, ...args: string[]): Buffer {
    const legacy = args.some((arg) => /RC|DES|rc2/.test(arg)) ? ['-legacy'] : [];
    const from = ['-inkey', `${name}.key`, '-in', `${name}.pem`, '-passout', 'env:PASSCODE', '-out', 'made.pfx'];
    this.run(pathOf('openssl'), ['pkcs12', '-export', ...legacy, ...from, ...args], { PASSCODE: passcode });
    return this.read('made.pfx');
  }

  private makeKey(name: string, kind: string): void {
    const how = kind === 'EC' ? 'EC -pkeyopt ec_paramgen_curve:P-256' : kind;
    this.command(`genpkey -algorithm ${how} -out ${name}.key`);
  }

  private sign(name: string, owner: string, issuer: string, days: number, extensions: string): void {
    this.write('extensions', extensions);
    this.command(`req -new -key ${name}.key -subj ${owner}/CN=${name} -out request.pem`);
    const authority = `-CA ${issuer}.pem -CAkey ${issuer}.key -CAcreateserial`;
    this.command(`x509 -req -in request.pem ${authority} -days ${days} -extfile extensions -out ${name}.pem`);
  }
}
