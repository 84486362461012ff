import type { ComponentChildren } from 'preact';
import { widestFraction } from './amount.js';
import type { Account } from '../shared/gateway.js';
import { toClock, toDate, toWrittenDate } from '../shared/time.js';
import type { Navigate } from './use-view.js';
import { CopyButton } from '../shared/copy-button.js';
import { DEFAULT_VIEW } from './view.js';
import { Amount, Iban, Movement, Text } from './values.js';

interface DetailsProps {
  readonly account: Account;
  readonly asOf: string;
  readonly navigate: Navigate;
}

/** All known facts of an account. */
export function AccountDetails({ account, asOf, navigate }: DetailsProps) {
  const { id, iban, ibans, identifiers, owner, status, currency, protection, description, interest, overdraft } =
    account;
  const others = ibans.filter((each) => each !== iban);
  return (
    <>
      {iban !== null && (
        <p class="row">
          <Iban text={iban} />
          <CopyButton name="Copy" label={`Copy ${iban}`} text={() => iban} />
        </p>
      )}
      <h3>Balances</h3>
      {account.balances.length === 0 && <p class="quiet">The bank sent none.</p>}
      {account.balances.map((balance, index) => (
        <Balance key={index} balance={balance} />
      ))}
      <h3>Account</h3>
      <dl class="facts">
        <Fact name="Status">
          <Text text={status} />
        </Fact>
        <Fact name="Currency">
          <Text text={currency} />
        </Fact>
        <Fact name="Owner">
          <Text text={owner.name} />
          {owner.number !== null && (
            <span class="quiet">
              {' '}
              <Text text={owner.number} />
            </span>
          )}
          {owner.id !== null && (
            <button type="button" class="plain" onClick={() => navigate({ ...DEFAULT_VIEW, ownerId: owner.id ?? '' })}>
              All of this owner
            </button>
          )}
        </Fact>
        <Fact name="Description">
          <Text text={description} />
        </Fact>
        <Fact name="Protection">
          <Text text={protection} />
        </Fact>
        <Fact name="Opened">{account.openedAt ? toWrittenDate(account.openedAt) : <Text text={null} />}</Fact>
        {account.closedAt !== null && <Fact name="Closed">{toWrittenDate(account.closedAt)}</Fact>}
        <Fact name="Interest">
          <Rate rate={interest.netRate} method={interest.calcMethod} />
        </Fact>
        <Fact name="Overdraft">
          <Rate rate={overdraft.rate} method={overdraft.calcMethod} />
        </Fact>
        {others.length > 0 && (
          <Fact name="Other IBANs">
            {others.map((each) => (
              <div key={each}>
                <Iban text={each} />
              </div>
            ))}
          </Fact>
        )}
        {identifiers.length > 0 && (
          <Fact name="Identifiers">
            {identifiers.map(({ account: number, financialInstitution, country }, index) => (
              <div key={index}>
                <Iban text={number} />{' '}
                <span class="quiet">
                  <Text text={[financialInstitution, country].filter(Boolean).join(' ') || null} />
                </span>
              </div>
            ))}
          </Fact>
        )}
        <Fact name="Id">
          <bdi class="id">{id}</bdi>
        </Fact>
      </dl>
      <p class="quiet">
        As of {toClock(asOf)}. <a href={`/api/v1/accounts/${encodeURIComponent(id)}`}>The same as JSON</a>
      </p>
    </>
  );
}

function Balance({ balance }: { readonly balance: Account['balances'][number] }) {
  const { type, currency, beginOfDay, intraDay, current, blocked, financialDate, lastTransactionAt } = balance;
  const rows = [
    ['Current', current, true],
    ['Begin of day', beginOfDay, false],
    ['Intraday', intraDay, false],
    ['Blocked', blocked, false],
  ] as const;
  const widest = widestFraction(rows.map(([, amount]) => amount));
  return (
    <section class="card balance">
      <h4 class="row between">
        <Text text={type} />
        <span class="quiet">
          <Text text={currency} />
        </span>
      </h4>
      <dl>
        {rows.map(([name, amount, main]) => (
          <div key={name} class={main ? 'main' : ''}>
            <dt>{name}</dt>
            <dd>
              {name === 'Intraday' ? (
                <Movement text={amount} widest={widest} />
              ) : (
                <Amount text={amount} widest={widest} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {financialDate !== null && <>Financial date {toWrittenDate(financialDate)}. </>}
        {lastTransactionAt !== null && (
          <>
            Last moved {toDate(lastTransactionAt)}, {toClock(lastTransactionAt)}.
          </>
        )}
      </p>
    </section>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Rate({ rate, method }: { readonly rate: string | null; readonly method: string | null }) {
  if (rate === null && method === null) return <Text text={null} />;
  return (
    <>
      {rate !== null && <Text text={rate} />}
      {method !== null && (
        <span class="quiet">
          {' '}
          <Text text={method} />
        </span>
      )}
    </>
  );
}
