import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** Thrown if the sandbox cannot start. The message is one line with the setting or option. */
export class SandboxNotStarted extends Error {
  override name = 'SandboxNotStarted';
}

export interface Place {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The setting of the port, named in the error message. */
  readonly variable: 'SANDBOX_PORT' | 'SANDBOX_AUTH_PORT' | 'SANDBOX_CONTROL_PORT';
}

/** Listens and returns the port. @throws SandboxNotStarted if the address or port cannot be used */
export async function listen(server: Server, place: Place): Promise<number> {
  server.listen({ host: place.host, port: place.port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new SandboxNotStarted(explain(cause as NodeJS.ErrnoException, place), { cause });
  }
  return (server.address() as AddressInfo).port;
}

/** @throws SandboxNotStarted if one of the addresses or ports cannot be used */
export async function checkFree(places: readonly Place[]): Promise<void> {
  for (const place of places.filter(({ port }) => port !== 0)) {
    const probe = createServer();
    await listen(probe, place);
    await new Promise((resolve) => probe.close(resolve));
  }
}

function explain({ code, message }: NodeJS.ErrnoException, { host, port, variable }: Place): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken (${variable}): stop the program that uses it, or set ${variable} to another port, 0 for any free one.`;
    case 'EACCES':
      return `Port ${port} may not be used by this user (${variable}): set ${variable} to a port of 1024 or more.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine (SANDBOX_HOST): set SANDBOX_HOST to one that is, such as 127.0.0.1.`;
    default:
      return `Cannot listen on port ${port} of ${host} (SANDBOX_HOST, ${variable}): ${message}`;
  }
}
