/** The parts of a page did not come: its server is away, or has been replaced by one with other parts. */
export class PageMissing extends Error {}

export function pageMissing(cause: unknown): never {
  throw new PageMissing('This page could not be fetched from the server.', { cause });
}

const RELOADED = 'abp.reloaded';
/** A page that is missing again so soon after it was loaded anew is not loaded anew by itself. */
const SOON_MS = 60_000;

function reloadedLately(): boolean {
  const [path, at] = (sessionStorage.getItem(RELOADED) ?? '').split(' ');
  return path === location.pathname && Date.now() - Number(at) < SOON_MS;
}

/** Loads the page anew once its server answers: without one, the browser would show nothing at all of what is known. */
export async function reloadIfBack(asked: boolean): Promise<void> {
  if (!asked && reloadedLately()) return;
  // Who is still away is asked again; the status line says so meanwhile.
  const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok !== true) return;
  sessionStorage.setItem(RELOADED, `${location.pathname} ${Date.now()}`);
  location.reload();
}
