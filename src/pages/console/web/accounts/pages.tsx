import type { AccountList } from '../shared/gateway.js';
import type { Navigate } from './use-view.js';
import { PAGE_SIZES, type View } from './view.js';
import { ViewLink } from './view-link.js';

interface Props {
  readonly page: AccountList['page'];
  readonly view: View;
  readonly navigate: Navigate;
}

/** Links to the other pages, and the number of accounts per page. */
export function Pages({ page: { number, size, total }, view, navigate }: Props) {
  const last = Math.max(1, Math.ceil(total / size));
  // a disabled link stays a link, so that it keeps the focus
  const link = (to: number, label: string, text: string) => (
    <ViewLink
      key={label}
      view={view}
      change={{ pageNumber: Math.min(Math.max(to, 1), last) }}
      navigate={navigate}
      class="page"
      label={label}
      disabled={to < 1 || to > last || to === number}
    >
      {text}
    </ViewLink>
  );
  return (
    <nav class="pages row between" aria-label="Pages of the list">
      <label class="row">
        <span class="quiet">Accounts per page</span>
        <select
          value={view.pageSize}
          onChange={({ currentTarget }) => navigate({ pageSize: Number(currentTarget.value) })}
        >
          {PAGE_SIZES.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {last > 1 && (
        <div class="row">
          {link(1, 'First page', '«')}
          {link(number - 1, 'Previous page', '‹')}
          <span class="quiet">
            Page {number} of {last}
          </span>
          {link(number + 1, 'Next page', '›')}
          {link(last, 'Last page', '»')}
        </div>
      )}
    </nav>
  );
}
