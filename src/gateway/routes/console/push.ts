import { AbpError } from '../../../contract/errors.ts';
import { PushState, PushWish } from '../../api/console.ts';
import { hashSecret } from '../../auth/key-ring.ts';
import { isOurSecret } from '../../auth/principal.ts';
import { consoleSecret } from '../../console/console-cookie.ts';
import type { Gateway } from '../../gateway.ts';
import type { Holder, PushNotes } from '../../push/push-notes.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function notesOf({ browsers }: Gateway): PushNotes {
  if (browsers.notes !== undefined) return browsers.notes;
  const remedy = 'An operator switches it on: web_push = true under [console] of the configuration.';
  throw new AbpError('not_found', 'This server tells no browsers what waits.', {}, remedy);
}

/** The sign-in that a subscription belongs to: what has no end that we know of could not end with it. */
async function holderOf({ browsers, keys, url }: Gateway, cookie: string | undefined): Promise<Holder> {
  const secret = consoleSecret(url, cookie);
  const known = secret === undefined || !isOurSecret(secret) ? undefined : (await keys.find(secret))?.key;
  const session = secret === undefined || known !== undefined ? undefined : await browsers.sessions.find(secret);
  const expiresAt = known?.expiresAt ?? session?.expiresAt;
  if (secret !== undefined && expiresAt !== undefined && expiresAt !== null) return { session: hashSecret(secret), expiresAt };
  throw new AbpError('forbidden', 'Only a browser that is signed in or paired can be told what waits.');
}

/** Whether this browser is told that something waits. */
export const pushRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/console/push',
    summary: 'Whether this browser is told when a question waits, and the key that it subscribes with.',
    response: PushState,
    handle: async ({ gateway, headers }) => {
      const notes = notesOf(gateway);
      return { key: notes.publicKey, on: await notes.isOn(await holderOf(gateway, headers.cookie)) };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/console/push',
    summary: 'Tells this browser from now on, until its sign-in ends, how many questions wait when there is a new one.',
    audit: { action: 'browser.tell' },
    body: PushWish,
    handle: async ({ gateway, body, headers }) => {
      const { endpoint, keys } = body;
      await notesOf(gateway).begin(await holderOf(gateway, headers.cookie), { endpoint, ...keys });
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/console/push',
    summary: 'Tells this browser nothing any more.',
    audit: { action: 'browser.stop_telling' },
    handle: async ({ gateway, headers }) => {
      await notesOf(gateway).end(await holderOf(gateway, headers.cookie));
      return new Reply(204, undefined);
    },
  }),
];
