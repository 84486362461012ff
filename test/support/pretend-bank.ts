import { randomBytes, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Validity } from '../../src/sandbox/identity/certificate.js';
import { createServerCertificate, renewClient } from '../../src/sandbox/identity/identity.js';
import { writeIdentityFiles, type IdentityContent } from '../../src/sandbox/identity/identity-files.js';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { onClose, temporaryDirectory } from './closing.js';
import type { BankAddress } from './bank-address.js';
import { toSandboxSettings } from './sandbox.js';
import { takeIdentity, takeKeyPair } from './stock.js';

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

/** The sandbox bank with a test's handlers: real mutual TLS, and its own identity. */
export interface PretendBank extends BankAddress {
  readonly directory: string;
  readonly username: string;
  readonly password: string;
  /** The handlers of both endpoints, which tests replace. */
  onToken: Handler;
  onAccounts: Handler;
  /** Every request received over TLS, oldest first. */
  readonly requests: {
    readonly path: string;
    readonly thumbprint: string | null;
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Issues another client certificate of the same CA. The handlers decide what it may do. */
  issueClient(
    name: string,
    validity?: Validity,
  ): Promise<{ readonly pfx: Buffer; readonly passcode: string; readonly thumbprint: string }>;
  /** Tokens issued by `issueToken`. */
  readonly tokens: string[];
  /** Maximum number of concurrent requests, by endpoint. */
  readonly most: { token: number; accounts: number };
  close(): Promise<void>;
}

export interface PretendBankOptions {
  readonly server?: ServerOptions;
  /** Validity of the client certificate. Default: a year from now. */
  readonly clientValidity?: Validity;
  readonly serverValidity?: Validity;
  /** Names in the server certificate. Default: localhost and 127.0.0.1. */
  readonly serverNames?: readonly string[];
}

/** Responds to a token request like the bank. */
export function issueToken(bank: PretendBank, change: Record<string, unknown> = {}): Handler {
  return (_request, response) => {
    const token = `token-${bank.tokens.length + 1}-${randomBytes(8).toString('hex')}`;
    bank.tokens.push(token);
    json(response, 200, { access_token: token, expires_in: '300', token_type: 'Bearer', ...change });
  };
}

/** Returns these accounts in pages, in the envelope of docs/bank.md#envelope-and-paging. */
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

export async function startPretendBank(options: PretendBankOptions = {}): Promise<PretendBank> {
  const { serverNames = ['localhost', '127.0.0.1'], serverValidity, server, clientValidity } = options;
  const directory = temporaryDirectory();
  const usual = takeIdentity();
  const identity = clientValidity ? { ...usual, pfx: await issuePfx(usual, clientValidity) } : usual;
  await writeIdentityFiles(directory, identity);
  const isUsual = options.serverNames === undefined && serverValidity === undefined;
  const cert = isUsual ? {} : { cert: createServerCertificate(identity, serverNames, serverValidity) };
  const underWay = { token: 0, accounts: 0 };
  const sandbox = await startSandbox(toSandboxSettings({ SANDBOX_DIRECTORY: directory }), {
    identity,
    tls: { rejectUnauthorized: true, ...cert, ...server },
    script: (request, response) => {
      const url = new URL(request.url ?? '/', bank.url);
      const peer = (request.socket as TLSSocket).getPeerX509Certificate();
      const thumbprint = peer?.fingerprint.replaceAll(':', '') ?? null;
      bank.requests.push({ path: url.pathname + url.search, thumbprint, headers: request.headers });
      const endpoint = url.pathname === '/api/v1/accounts' ? 'accounts' : 'token';
      underWay[endpoint] += 1;
      bank.most[endpoint] = Math.max(bank.most[endpoint], underWay[endpoint]);
      response.on('error', () => undefined).once('close', () => (underWay[endpoint] -= 1));
      if (endpoint === 'accounts') bank.onAccounts(request, response, url);
      else if (url.pathname === '/api/v1/authorizations/authorize') bank.onToken(request, response, url);
      else return false;
      return true;
    },
  });
  const sockets = new Set<Socket>();
  sandbox.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  let closed: Promise<void> | undefined;
  const bank: PretendBank = {
    url: sandbox.url,
    authUrl: sandbox.authUrl,
    directory,
    username: identity.username,
    password: identity.password,
    files: sandbox.files,
    requests: [],
    sockets,
    tokens: [],
    most: { token: 0, accounts: 0 },
    onToken: (...args) => issueToken(bank)(...args),
    onAccounts: (...args) => listAccounts([])(...args),
    issueClient: async (name, validity) => {
      const passcode = `secret-passcode-${randomBytes(6).toString('hex')}`;
      const pfx = await issuePfx({ ...identity, passcode }, validity, name);
      const { fingerprint } = new X509Certificate(openPfx(pfx, passcode).certificatePems[0] ?? '');
      return { pfx, passcode, thumbprint: fingerprint.replaceAll(':', '') };
    },
    close: () => (closed ??= sandbox.close()),
  };
  onClose(bank.close);
  return bank;
}

const issuePfx = (identity: IdentityContent, clientValidity?: Validity, name?: string): Promise<Buffer> =>
  renewClient(identity, { newKey: takeKeyPair, ...(clientValidity && { clientValidity }) }, name);
