import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  useRouterState,
} from '@tanstack/react-router';
import { type JSX, useEffect } from 'react';
import { PageMissing, pageMissing, reloadIfBack } from './base/page-load.ts';
import { Empty, ErrorBand } from './components/bits/bits.tsx';
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

const LOOK_MS = 3000;

/** A page that did not come, or broke: the frame and all other pages stay. One that did not come is loaded anew once its server answers. */
function Broken({ error, reset }: ErrorComponentProps): JSX.Element {
  const missing = error instanceof PageMissing;
  useEffect(() => {
    if (!missing) return undefined;
    const timer = window.setInterval(() => void reloadIfBack(false), LOOK_MS);
    return () => window.clearInterval(timer);
  }, [missing]);
  return (
    <div className="fill">
      <h1 className="sr">This page cannot be shown</h1>
      <ErrorBand error={error} retry={missing ? () => void reloadIfBack(true) : reset} />
      <Empty title={missing ? 'This page has not come yet.' : 'This page broke.'}>
        <p className="note">
          {missing
            ? 'It comes by itself once the server answers. Pages that were open before show what was known then.'
            : 'The others go on; what stands above says what went wrong here.'}
        </p>
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
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: searchOf,
    component: lazyRouteComponent(() => load().catch(pageMissing), 'Page'),
  });

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
    defaultErrorComponent: Broken,
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
