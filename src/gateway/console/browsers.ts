import type { Store } from '../../store/store.ts';
import { may } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import { Tickets } from '../door/tickets.ts';
import type { Gateway } from '../gateway.ts';
import { AnsweredQuestions } from '../inbox/answered-questions.ts';
import { openQuestions } from '../inbox/open-questions.ts';
import { principalOf } from './console-cookie.ts';
import { ConsoleFiles } from './console-files.ts';
import { ConsoleSessions } from './console-sessions.ts';

export function browsersOf(store: Store, home: string): Gateway['browsers'] {
  return { sessions: new ConsoleSessions(store), tickets: new Tickets(), files: new ConsoleFiles(home), answered: new AnsweredQuestions() };
}

/** Begins to tell browsers what waits, where the operator wants that. */
export async function openNotes(gateway: Gateway, closers: (() => void | Promise<void>)[]): Promise<void> {
  const { config, store, log } = gateway;
  if (!config.console.web_push) return;
  const { PushNotes } = await import('../push/push-notes.ts');
  const notes = await PushNotes.open({
    ...{ store, log, config: config.console, address: () => gateway.url },
    principalOf: (session) => readerOf(gateway, session),
    questions: (principal) => openQuestions(gateway, principal),
  });
  gateway.browsers.notes = notes;
  closers.push(() => notes.close());
}

/** Who the browser with a cookie of this hash is now, where it may see questions. */
async function readerOf({ browsers, keys, people }: Gateway, session: string): Promise<Principal | undefined> {
  const found = await browsers.sessions.findByHash(session);
  if (found?.user !== undefined && !people.knows('user', found.user)) return undefined;
  const known = found === undefined ? await keys.findByHash(session) : undefined;
  const principal: Principal | undefined = known === undefined ? principalOf(found, people) : { kind: 'key', ...known };
  return principal !== undefined && may(principal, 'bodies') ? principal : undefined;
}
