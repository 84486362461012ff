import { X509Certificate } from 'node:crypto';
import { expect, it } from '@jest/globals';
import forge from 'node-forge';
import { expired } from '../../test/support/authority.js';
import { takeKeyPair } from '../../test/support/stock.js';
import { createCertificate, type Validity } from '../sandbox/identity/certificate.js';
import { examineChain, examineDates, examineListener } from './examine-certificates.js';

const NOW = new Date();
const [key, ownKey] = [takeKeyPair(), takeKeyPair()];
const toX509 = (certificate: forge.pki.Certificate) => new X509Certificate(forge.pki.certificateToPem(certificate));

const root = createCertificate('root', key, { use: 'root' });
const middle = (validity?: Validity) =>
  createCertificate('middle', key, { use: 'intermediate', issuer: { certificate: root, key } }, validity);
const issuer = { certificate: middle(), key };
const server = (names: readonly string[], validity?: Validity) =>
  toX509(createCertificate('gateway', ownKey, { use: 'server', issuer, names }, validity));
const own = { certificate: createCertificate('gateway', ownKey, { use: 'root' }), key: ownKey };
const selfSigned = toX509(createCertificate('gateway', ownKey, { use: 'server', issuer: own, names: ['gateway'] }));
const client = toX509(createCertificate('client', ownKey, { use: 'client', issuer }));
const chain = [toX509(middle())];

const HOSTS = ['gateway.example', 'localhost', '127.0.0.1', '[::1]'];

it.each<[string, X509Certificate, readonly X509Certificate[], readonly string[], readonly RegExp[]]>([
  ['that is right', server(['gateway.example']), chain, HOSTS, []],
  ['for this machine only', server(['localhost']), chain, ['localhost', '127.0.0.1', '[::1]'], []],
  ['for addresses', server(['127.0.0.1', '::1', '192.0.2.1']), chain, ['192.0.2.1', '[::1]'], []],
  ['for any name of a domain', server(['*.bank.example']), chain, ['gateway.bank.example', 'localhost'], []],
  ['without its issuer', server(['gateway.example']), [], HOSTS, [/^The chain is incomplete: .*CN=middle/]],
  ['that is self-signed without being a CA', selfSigned, [], ['gateway'], []],
  ['that is a root itself', toX509(root), [], [], [/does not allow digital signatures/]],
  [
    'whose issuer has expired',
    server(['gateway.example']),
    [toX509(middle(expired()))],
    HOSTS,
    [/^The certificate of the issuer O=.*, CN=middle expired on 20/],
  ],
  [
    'whose issuer is not a CA',
    server(['gateway.example']),
    [server(['middle'])],
    HOSTS,
    [/^The certificate of the issuer .*CN=gateway is not a CA certificate/],
  ],
  [
    'that has expired',
    server(['gateway.example'], expired()),
    chain,
    HOSTS,
    [/^The certificate .*CN=gateway expired on 20/],
  ],
  [
    'for another name',
    server(['www.example']),
    chain,
    HOSTS,
    [/is for DNS:www.example, not for gateway.example, local/],
  ],
  ['for one of two names', server(['a.example']), chain, ['a.example', 'b.example'], [/, not for b.example\. /]],
  [
    'for clients',
    client,
    chain,
    HOSTS,
    [/does not allow server authentication/, /^The certificate is for no name, not for gateway.example, /],
  ],
])('a listener with a certificate %s', (_name, certificate, issuers, hosts, warnings) => {
  const found = examineListener({ certificate, issuers }, hosts, NOW);
  expect(found).toEqual(warnings.map((each) => expect.stringMatching(each)));
});

it('the certificate of a client', () => {
  expect(examineChain(client, chain, { use: 'client', now: NOW })).toEqual([]);
  const wrong = examineChain(server(['localhost']), chain, { use: 'client', now: NOW });
  expect(wrong).toEqual([expect.stringContaining('does not allow client authentication')]);
});

it('anchors may be of any kind, but are named if they are not valid now', () => {
  const [late, any] = [server(['a.example'], expired()), client];
  expect(examineDates([toX509(root), ...chain, any, late], NOW)).toEqual([
    expect.stringContaining('CN=gateway expired on 20'),
  ]);
});
