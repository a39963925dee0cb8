import type { AgentTrafficRow } from '../../adapter.ts';
import { CHAT_ROWS, MESSAGES_ROWS, RESPONSES_ROWS } from '../traffic/wires.ts';
import { PI_WIRES } from './spawn.ts';

export const PI_DIALECTS: readonly string[] = PI_WIRES.map(({ dialect }) => dialect);

/** pi and omp send more than plain messages and tools; these rows say which members on each of their wires. */
export const PI_ROWS: readonly AgentTrafficRow[] = [...CHAT_ROWS, ...MESSAGES_ROWS, ...RESPONSES_ROWS];
