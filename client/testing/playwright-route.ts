import type { FakeGateway, PlaywrightRoute } from '../src/testing.js';

export function playwrightRoute({ fetch }: Pick<FakeGateway, 'fetch'>): (route: PlaywrightRoute) => Promise<void> {
  return async (route) => {
    const request = route.request();
    const answer = await fetch(request.url(), { method: request.method(), headers: request.headers() }).catch(
      () => null,
    );
    if (answer === null) return route.abort('connectionrefused');
    const { status, headers } = answer;
    await route.fulfill({ status, headers: Object.fromEntries(headers), body: await answer.text() });
  };
}
