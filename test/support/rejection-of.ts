import { GatewayError } from '../../src/errors/gateway-error.js';

/** The GatewayError that `work` rejects with. Fails the test otherwise. */
export async function rejectionOf(work: () => unknown): Promise<GatewayError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was rejected');
}
