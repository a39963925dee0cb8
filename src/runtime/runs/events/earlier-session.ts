import type { Adapter, EventDraft } from '../../../adapters/adapter.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import { createSessions } from '../../sessions.ts';

/** The session that a run goes on with, as the store of the agent has it. */
export interface EarlierSession {
  /** Undefined where the store does not have it, or cannot be read. */
  readonly turns: number | undefined;
}

/** Looked up before the agent starts, which writes to its store. */
export async function earlierSession(
  adapter: Adapter,
  { sessionId, env }: RunOptions,
  processEnv: Readonly<Record<string, string | undefined>>,
): Promise<EarlierSession> {
  if (sessionId === undefined) return { turns: undefined };
  const sessions = createSessions({ ...processEnv, ...env });
  const found = await sessions.get(adapter, sessionId).catch(() => undefined); // a session that is not there is the agent's to refuse
  return { turns: found?.turnCount };
}

/** Events that tell the reader, after the start of a session, that it continues or forks an earlier one. */
export function sessionEvents(event: Extract<AgentEvent, { type: 'session_start' }>, { turns }: EarlierSession): EventDraft[] {
  const { sessionId, resumed, forkedFrom } = event;
  if (forkedFrom !== undefined) return [{ type: 'session_fork', sessionId, forkedFrom }];
  if (!resumed) return [];
  if (turns !== undefined) return [{ type: 'session_resume', sessionId, priorTurnCount: turns }];
  return [{ type: 'debug', level: 'info', message: `session ${sessionId} goes on; how many turns it had is not known here` }];
}
