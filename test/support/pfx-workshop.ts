import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface LeafOptions {
  subject?: string;
  key?: string;
  days?: number;
  eku?: string;
  issuer?: string;
}

/** A workshop in a temporary directory: makes keys, certificates and PFX files with the real openssl. */
export class Workshop {
  readonly directory = mkdtempSync(join(tmpdir(), 'pfx-'));

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  run(command: string, args: string[], env: Record<string, string> = {}): Buffer {
    return execFileSync(command, args, {
      cwd: this.directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  openssl(...args: string[]): Buffer {
    return this.run('openssl', args);
  }

  read(name: string): Buffer {
    return readFileSync(join(this.directory, name));
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(join(this.directory, name), content);
  }

  /** Makes {name}.key and {name}.pem, self-signed, as an authority. */
  makeRoot(name: string, key = 'EC'): void {
    this.makeKey(name, key);
    this.openssl(
      'req',
      '-x509',
      '-new',
      '-key',
      `${name}.key`,
      '-subj',
      `/O=Test/CN=${name}`,
      '-days',
      '9000',
      '-out',
      `${name}.pem`,
    );
  }

  makeIntermediate(name: string, issuer: string, key = 'EC'): void {
    this.makeKey(name, key);
    this.sign(name, issuer, `/O=Test/CN=${name}`, 8000, 'basicConstraints=critical,CA:TRUE');
  }

  makeLeaf(
    name: string,
    { subject, key = 'EC', days = 3000, eku = 'clientAuth', issuer = 'root' }: LeafOptions = {},
  ): void {
    this.makeKey(name, key);
    const extension = `basicConstraints=CA:FALSE\n${eku === '' ? '' : `extendedKeyUsage=${eku}`}`;
    this.sign(name, issuer, subject ?? `/C=LT/O=Company/CN=${name}`, days, extension);
  }

  /** The PFX of {name}.key and {name}.pem under a passcode. */
  makePfx(name: string, passcode: string, ...args: string[]): Buffer {
    const legacy = args.some((arg) => /RC|DES|rc2/.test(arg)) ? ['-legacy'] : [];
    const out = ['-passout', 'env:PASSCODE', '-out', 'made.pfx'];
    this.run(
      'openssl',
      ['pkcs12', '-export', ...legacy, '-inkey', `${name}.key`, '-in', `${name}.pem`, ...out, ...args],
      {
        PASSCODE: passcode,
      },
    );
    return this.read('made.pfx');
  }

  private makeKey(name: string, kind: string): void {
    const how = kind === 'EC' ? ['EC', '-pkeyopt', 'ec_paramgen_curve:P-256'] : kind.split(' ');
    this.openssl('genpkey', '-algorithm', ...how, '-out', `${name}.key`);
  }

  private sign(name: string, issuer: string, subject: string, days: number, extension: string): void {
    this.write('extensions', extension);
    this.openssl('req', '-new', '-key', `${name}.key`, '-subj', subject, '-out', 'request.pem');
    const authority = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'];
    this.openssl(
      'x509',
      '-req',
      '-in',
      'request.pem',
      ...authority,
      '-days',
      String(days),
      '-extfile',
      'extensions',
      '-out',
      `${name}.pem`,
    );
  }
}
