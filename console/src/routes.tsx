import type { QueryClient } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent, useRouterState } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Empty } from './components/bits/bits.tsx';
import { Frame } from './components/frame/frame.tsx';

const root = createRootRoute({
  component: Frame,
  notFoundComponent: Nowhere,
});

function Nowhere(): JSX.Element {
  const at = useRouterState({ select: (state) => state.location.pathname });
  return (
    <div className="fill">
      <h1 className="sr">There is no such page</h1>
      <Empty title="There is no page of this address.">
        <p>
          <code>{at}</code>
        </p>
        <p>
          <Link className="btn" to="/">
            Home
          </Link>{' '}
          <Link className="btn" to="/runs">
            Runs
          </Link>
        </p>
        <p className="note">⌘K finds a run by a part of its id, a page by its name, and actions.</p>
      </Empty>
    </div>
  );
}

/** What stands behind the question mark, as text. Pages read it with their own `search.ts`. */
type Search = Readonly<Record<string, string | undefined>>;

function searchOf(raw: Record<string, unknown>): Search {
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, value === undefined ? undefined : String(value)]));
}

const page = <P extends string>(path: P, load: () => Promise<{ Page: () => React.JSX.Element }>) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: searchOf, component: lazyRouteComponent(load, 'Page') });

/** One line per page. A new page is a folder and a line here. */
const children = [
  page('/', () => import('./pages/home/page.tsx')),
  page('/runs', () => import('./pages/runs/page.tsx')),
  page('/runs/$run', () => import('./pages/run/page.tsx')),
  page('/runs/$a/vs/$b', () => import('./pages/compare/page.tsx')),
  page('/playground', () => import('./pages/playground/page.tsx')),
  page('/matrix', () => import('./pages/matrix/page.tsx')),
  page('/agents', () => import('./pages/agents/page.tsx')),
  page('/agents/$agent', () => import('./pages/agents/page.tsx')),
  page('/agents/$agent/sessions/$session', () => import('./pages/agents/page.tsx')),
  page('/coding', () => import('./pages/coding/page.tsx')),
  page('/inbox', () => import('./pages/coding/page.tsx')),
  page('/usage', () => import('./pages/usage/page.tsx')),
  page('/settings', () => import('./pages/settings/page.tsx')),
  page('/settings/$section', () => import('./pages/settings/page.tsx')),
];

export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree: root.addChildren(children),
    defaultPreload: 'intent',
    context: { client },
    // Values are text here; the default would read "7" as a number and "true" as a boolean.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
      return text === '' ? '' : `?${text}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
