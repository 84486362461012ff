import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';

export interface KeyPair {
  readonly pem: string;
  readonly privateKey: forge.pki.rsa.PrivateKey;
  readonly publicKey: forge.pki.rsa.PublicKey;
}

const generate = promisify(generateKeyPair);

/** Generates an RSA 2048 key off the event loop, with Node: forge's own generator takes seconds. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey } = await generate('rsa', { modulusLength: 2048 });
  return toKeyPair(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** Reads a PEM private key (PKCS#8 or PKCS#1) into forge's form. @throws Error if it is not an RSA key */
export function toKeyPair(pem: string): KeyPair {
  const privateKey = forge.pki.privateKeyFromPem(pem);
  return { pem, privateKey, publicKey: forge.pki.setRsaPublicKey(privateKey.n, privateKey.e) };
}
