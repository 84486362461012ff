import { useState } from 'preact/hooks';

const MAX_LENGTH = 100;

/** Leads to the accounts, which this page does not show. The form is not submitted: the page's policy forbids it. */
export function SearchForm() {
  const [typed, setTyped] = useState('');
  return (
    <form
      class="search row"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        location.assign(`/accounts${typed.trim() === '' ? '' : `?${new URLSearchParams({ q: typed.trim() })}`}`);
      }}
    >
      <label for="search">Is an account in the list?</label>
      <input
        id="search"
        type="search"
        placeholder="Name, IBAN or owner"
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit">Search</button>
      <p class="quiet">Opens Accounts. This page shows no account: safe for a ticket.</p>
    </form>
  );
}
