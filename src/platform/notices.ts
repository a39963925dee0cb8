import { DELETED, DELTAS_CHANNEL, EVENTS_CHANNEL, TURNS_CHANNEL } from '../store/databases/notices.ts';
import type { SessionParts } from './parts.ts';
import { relayedDelta } from './sessions/deltas.ts';
import { forgetSession } from './sessions/sessions.ts';
import type { Worker } from './turns/worker.ts';

/** Listens to what other processes on the same database do. */
export async function hearOthers(parts: SessionParts, worker: Worker, url: string): Promise<() => Promise<void>> {
  const { hub, origin, log } = parts;
  const heard: Readonly<Record<string, (payload: string) => void>> = {
    [EVENTS_CHANNEL]: (payload) => {
      const [writer, sessionId = '', what] = payload.split(' ');
      if (writer === origin) return;
      if (what === DELETED) {
        forgetSession(parts, sessionId).catch((error: unknown) =>
          log.warn({ error, session: sessionId }, 'files of a session stay behind'),
        );
        return;
      }
      hub.tell(sessionId, { kind: 'hint' });
      worker.hint(sessionId);
    },
    [TURNS_CHANNEL]: (turnId) => {
      worker.offer(turnId).catch((error: unknown) => log.warn({ error, turn: turnId }, 'a turn could not be claimed'));
    },
    [DELTAS_CHANNEL]: (payload) => {
      const relayed = relayedDelta(payload, origin);
      if (relayed !== undefined) hub.tell(relayed.sessionId, { kind: 'delta', delta: relayed.delta });
    },
  };
  // Loaded on demand: a start on SQLite never pays for pg.
  const { openListener } = await import('../store/databases/listener.ts');
  const listener = await openListener({
    url,
    channels: Object.keys(heard),
    onNotice: (channel, payload) => heard[channel]?.(payload),
    onGap: () => {
      hub.tellAll({ kind: 'hint' });
      worker.hintAll();
    },
    onTrouble: (error) => log.warn({ error }, 'the connection for notices is lost; it is opened again'),
    onDeaf: (error) => log.warn({ error }, 'turns wait until a worker looks for them by itself'),
  });
  return () => listener.close();
}
