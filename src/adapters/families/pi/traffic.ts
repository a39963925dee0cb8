import type { AgentTrafficRow } from '../../adapter.ts';
import { CHAT_ROWS, MESSAGES_ROWS, RESPONSES_ROWS } from '../traffic/wires.ts';
import { PI_WIRES } from './spawn.ts';

export const PI_DIALECTS: readonly string[] = PI_WIRES.map(({ dialect }) => dialect);

/** What the requests of the family hold beside plain messages and tools, on each of its wires. */
export const PI_ROWS: readonly AgentTrafficRow[] = [...CHAT_ROWS, ...MESSAGES_ROWS, ...RESPONSES_ROWS];
