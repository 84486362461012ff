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
  const link = (to: number, label: string, text: string, able: boolean) =>
    able ? (
      <ViewLink view={view} change={{ pageNumber: to }} navigate={navigate} class="page" label={label}>
        {text}
      </ViewLink>
    ) : (
      <span class="page none" aria-hidden="true">
        {text}
      </span>
    );
  return (
    <nav class="pages row between" aria-label="Pages of the list">
      <label class="row">
        <span class="quiet">On a page</span>
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
          {link(1, 'First page', '«', number > 1)}
          {link(number - 1, 'Page before', '‹', number > 1)}
          <span class="quiet">
            Page {number} of {last}
          </span>
          {link(number + 1, 'Next page', '›', number < last)}
          {link(last, 'Last page', '»', number < last)}
        </div>
      )}
    </nav>
  );
}
