import './base/styles.ts';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiError, OfflineError } from './api/client.ts';
import { signIn } from './api/session.ts';
import { createAppRouter } from './routes.tsx';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // The server is often this very machine: it answers while the machine is off every network.
      networkMode: 'always',
      // An answer that says no will say no again; a server that is gone is asked again by the queries that poll.
      retry: (failures, error) => !(error instanceof ApiError) && !(error instanceof OfflineError) && failures < 2,
      refetchOnWindowFocus: false,
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');

// A link that is opened in a tab that already shows the console changes the fragment alone.
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) location.reload();
});

const refused = await signIn();
createRoot(root).render(
  <QueryClientProvider client={client}>
    {refused === null ? null : (
      <div className="error-band" role="alert">
        {refused}
      </div>
    )}
    <RouterProvider router={createAppRouter(client)} />
  </QueryClientProvider>,
);
