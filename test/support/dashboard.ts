import { read } from './documents.js';

interface Panel {
  readonly type: string;
  readonly targets?: { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: Panel[];
}

/** The queries of the dashboard as Grafana would send them: all jobs and instances, rates over `range`. */
export function dashboardQueries(range: string): string[] {
  const { panels } = JSON.parse(read('config/grafana/accounts-gateway.json')) as Dashboard;
  return panels
    .flatMap(({ targets = [] }) => targets)
    .map(({ expr }) => expr.replaceAll(/\$(?:job|instance)/g, '.*').replaceAll('$__rate_interval', range));
}
