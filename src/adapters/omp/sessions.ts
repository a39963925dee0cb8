import type { SessionRule } from '../adapter.ts';
import { piSessions } from '../families/pi/sessions.ts';

export const sessions: SessionRule = piSessions({ agent: 'omp', folder: '.omp/agent/sessions' });
