import { send } from './client.ts';

const FRAGMENT = /^#code=([\w-]+)$/;

/** Redeems the code of a one-time link and takes it out of the address, before anything else is asked. */
export async function signIn(): Promise<string | null> {
  const code = FRAGMENT.exec(location.hash)?.[1];
  if (code === undefined) return null;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    await send('POST', '/v1/console/session', { code });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
