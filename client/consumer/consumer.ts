// A web app as it sees the built package: npm run check:client compiles it as Node and as bundlers resolve modules.
import { createClient, isProblem, type Account } from 'accounts-gateway-client';

const client = createClient({ baseUrl: 'https://accounts.example.com' });

export async function namesOf(currency: string): Promise<string[]> {
  try {
    const { accounts } = await client.listAccounts({ currency });
    return accounts.map(({ name }: Account) => name);
  } catch (error) {
    return isProblem(error) ? [error.code] : [];
  }
}

// the types are really there: none of them is any
// @ts-expect-error -- a number is no currency
void client.listAccounts({ currency: 978 });
