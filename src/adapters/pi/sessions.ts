import type { SessionRule } from '../adapter.ts';
import { piSessions } from '../families/pi/sessions.ts';

export const sessions: SessionRule = piSessions({
  agent: 'pi',
  folder: '.pi/agent/sessions',
  folderVariable: 'PI_CODING_AGENT_SESSION_DIR',
});
