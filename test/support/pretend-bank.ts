import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import forge from 'node-forge';
import { createCertificate, type Validity } from '../../src/sandbox/identity/certificate.js';
import { createPfx } from '../../src/sandbox/identity/pfx.js';
import type { BankAddress } from './gateway.js';
import { takeKeyPair } from './stock.js';

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

export interface PretendBank extends BankAddress {
  readonly directory: string;
  readonly username: string;
  readonly password: string;
  /** What it answers; tests put their own in. */
  onToken: Handler;
  onAccounts: Handler;
  /** Every request that came through TLS, oldest first. */
  readonly requests: {
    readonly path: string;
    readonly thumbprint: string | null;
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Another client certificate by the same authority; what its holder gets is up to the handlers. */
  issueClient(
    name: string,
    validity?: Validity,
  ): Promise<{ readonly pfx: Buffer; readonly passcode: string; readonly thumbprint: string }>;
  /** Tokens it has issued by `issueToken`. */
  readonly tokens: string[];
  /** The most requests it ever had under way at once, for each endpoint. */
  readonly most: { token: number; accounts: number };
  close(): Promise<void>;
}

export interface PretendBankOptions {
  readonly server?: ServerOptions;
  /** Of the client certificate; a year from now when missing. */
  readonly clientValidity?: Validity;
  readonly serverValidity?: Validity;
  /** Names in the server certificate; localhost and 127.0.0.1 when missing. */
  readonly serverNames?: readonly string[];
}

const running = new Set<PretendBank>();

/** For afterEach. */
export async function closePretendBanks(): Promise<void> {
  for (const bank of running) await bank.close();
}

/** Answers a token request as a bank does. */
export function issueToken(bank: PretendBank, change: Record<string, unknown> = {}): Handler {
  return (_request, response) => {
    const token = `token-${bank.tokens.length + 1}-${randomBytes(8).toString('hex')}`;
    bank.tokens.push(token);
    json(response, 200, { access_token: token, expires_in: '300', token_type: 'Bearer', ...change });
  };
}

/** Answers the list with these accounts, paged as asked, in the envelope of docs/bank.md#envelope-and-paging. */
export function listAccounts(accounts: readonly object[]): Handler {
  return (_request, response, url) => {
    const number = Number(url.searchParams.get('PageNumber') ?? 1);
    const size = Number(url.searchParams.get('PageSize') ?? 50);
    const result = accounts.slice((number - 1) * size, number * size);
    json(response, 200, { result, pageInfo: { currentPage: number, pageSize: size, rowCount: accounts.length } });
  };
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A bank whose every answer a test decides, behind real mutual TLS with certificates made on the spot. */
export async function startPretendBank(options: PretendBankOptions = {}): Promise<PretendBank> {
  const directory = mkdtempSync(join(tmpdir(), 'pretend-bank-'));
  const identity = await makeIdentity(directory, options);
  const sockets = new Set<Socket>();
  const underWay = { token: 0, accounts: 0 };
  const server = createServer({
    ca: identity.ca,
    cert: identity.serverCert,
    key: identity.serverKey,
    requestCert: true,
    rejectUnauthorized: true,
    ...options.server,
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bank: PretendBank = {
    url,
    authUrl: url,
    directory,
    username: identity.username,
    password: identity.password,
    files: identity.files,
    requests: [],
    issueClient: identity.issueClient,
    sockets,
    tokens: [],
    most: { token: 0, accounts: 0 },
    onToken: (...args) => issueToken(bank)(...args),
    onAccounts: (...args) => listAccounts([])(...args),
    close: async () => {
      if (!running.delete(bank)) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      rmSync(directory, { recursive: true, force: true });
    },
  };
  server.on('request', (request, response) => {
    const asked = new URL(request.url ?? '/', url);
    const peer = (request.socket as TLSSocket).getPeerCertificate();
    bank.requests.push({
      path: asked.pathname + asked.search,
      thumbprint: peer.fingerprint?.replaceAll(':', '') ?? null,
      headers: request.headers,
    });
    response.on('error', () => undefined);
    const endpoint = asked.pathname === '/api/v1/accounts' ? 'accounts' : 'token';
    underWay[endpoint] += 1;
    bank.most[endpoint] = Math.max(bank.most[endpoint], underWay[endpoint]);
    response.once('close', () => (underWay[endpoint] -= 1));
    if (asked.pathname === '/api/v1/authorizations/authorize') bank.onToken(request, response, asked);
    else if (asked.pathname === '/api/v1/accounts') bank.onAccounts(request, response, asked);
    else json(response, 404, {});
  });
  running.add(bank);
  return bank;
}

async function makeIdentity(directory: string, options: PretendBankOptions) {
  const [caKey, serverKey, clientKey] = [takeKeyPair(), takeKeyPair(), takeKeyPair()];
  const ca = createCertificate('Pretend CA', caKey, { use: 'root' });
  const issuer = { certificate: ca, key: caKey };
  const server = createCertificate(
    'Pretend bank',
    serverKey,
    { use: 'server', issuer, names: options.serverNames ?? ['localhost', '127.0.0.1'] },
    options.serverValidity,
  );
  const client = createCertificate('pretend client', clientKey, { use: 'client', issuer }, options.clientValidity);
  const issueClient = async (name: string, validity?: Validity) => {
    const key = takeKeyPair();
    const certificate = createCertificate(name, key, { use: 'client', issuer }, validity);
    const newPasscode = `secret-passcode-${randomBytes(6).toString('hex')}`;
    const { fingerprint } = new X509Certificate(forge.pki.certificateToPem(certificate));
    return {
      pfx: createPfx(key, [certificate], newPasscode),
      passcode: newPasscode,
      thumbprint: fingerprint.replaceAll(':', ''),
    };
  };
  const [username, password, passcode] = ['secret-user', 'secret-password', 'secret-passcode'].map(
    (name) => `${name}-${randomBytes(6).toString('hex')}`,
  );
  const write = (name: string, content: string | Buffer) => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const pem = (certificate: forge.pki.Certificate) => forge.pki.certificateToPem(certificate);
  return {
    username: username as string,
    password: password as string,
    ca: pem(ca),
    issueClient,
    serverCert: pem(server),
    serverKey: forge.pki.privateKeyToPem(serverKey.privateKey),
    files: {
      ca: write('ca.pem', pem(ca)),
      pfx: write('client.pfx', createPfx(clientKey, [client], passcode as string)),
      passcode: write('passcode', passcode as string),
      username: write('username', username as string),
      password: write('password', password as string),
    },
  };
}
