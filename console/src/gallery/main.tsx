import '../base/styles.ts';
import './gallery.css';
import { onlineManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { type JSX, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Specimen } from '../base/specimen.ts';
import { ANSWERS } from './answers.ts';

/** Every component has a file of its states beside it. */
const FILES = import.meta.glob<{ readonly states: readonly Specimen[] }>('../components/*/*.gallery.tsx');

const nameOf = (path: string): string => path.split('/').at(-2) ?? '';
const COMPONENTS = new Map(Object.entries(FILES).map(([path, load]) => [nameOf(path), load]));

// Nobody is asked: what a component would be told stands beside its state.
onlineManager.setOnline(false);

function clientWith(answers: Specimen['answers'] = []): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retryOnMount: false } } });
  for (const [key, answer] of [...ANSWERS, ...answers]) {
    if (answer instanceof Error) client.getQueryCache().build(client, { queryKey: key }).setState({ status: 'error', error: answer });
    else client.setQueryData(key, answer);
  }
  return client;
}

function State({ specimen }: { readonly specimen: Specimen }): JSX.Element {
  const client = useMemo(() => clientWith(specimen.answers), [specimen]);
  const [open, setOpen] = useState(false);
  return (
    <section className="specimen" aria-label={specimen.name}>
      <h2>{specimen.name}</h2>
      <QueryClientProvider client={client}>
        {specimen.shows}
        {specimen.floats === undefined ? null : (
          <button type="button" className="btn" onClick={() => setOpen(true)}>
            Open it
          </button>
        )}
        {open ? specimen.floats?.(() => setOpen(false)) : null}
      </QueryClientProvider>
    </section>
  );
}

/** The page of a component; without one, the list of all. */
function Gallery({ of, states }: { readonly of: string; readonly states: readonly Specimen[] }): JSX.Element {
  return (
    <main className="gallery">
      <nav aria-label="Components">
        {[...COMPONENTS.keys()].map((name) => (
          <a key={name} href={`?of=${name}`} {...(name === of ? { 'aria-current': 'page' as const } : {})}>
            {name}
          </a>
        ))}
      </nav>
      <div>
        <h1>{of === '' ? 'Components' : of}</h1>
        {states.map((specimen) => (
          <State key={specimen.name} specimen={specimen} />
        ))}
      </div>
    </main>
  );
}

const asked = new URLSearchParams(location.search);
const dark = asked.get('theme') === 'dark' || (asked.get('theme') === null && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.theme = dark ? 'dark' : 'light';
const of = asked.get('of') ?? '';
const states = (await COMPONENTS.get(of)?.())?.states ?? [];
const router = createRouter({
  routeTree: createRootRoute({ component: () => <Gallery of={of} states={states} /> }),
  history: createMemoryHistory({ initialEntries: ['/'] }),
});
const root = document.getElementById('root');
if (root === null) throw new Error('gallery.html has no root');
createRoot(root).render(<RouterProvider router={router} />);
