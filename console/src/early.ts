/**
 * Runs before the application is parsed: sets the theme, so that nothing flashes, and asks for what the first page will show.
 * The application takes the promises from here; see `api/early.ts`.
 * A block, because the browser runs it as a plain script, whose names would be those of the window.
 */
{
  const theme = localStorage.getItem('abp.theme');
  const dark = theme === null ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';

  const asked: Record<string, Promise<Response>> = {};
  const ask = (path: string): void => {
    asked[path] = fetch(path, { headers: { accept: 'application/json' } });
    // The page that takes the promise sees the failure; maybe none does.
    asked[path].catch(() => undefined);
  };
  // A code in the fragment is redeemed first: what is asked before would be answered to somebody who is not signed in.
  if (!location.hash.startsWith('#code=')) {
    ask('/v1/console/session');
    if (location.pathname === '/runs' && location.search === '') ask('/v1/runs?view=row&root=true&limit=60');
  }
  Object.assign(window, { abpEarly: asked });
}
