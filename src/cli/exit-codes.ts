import type { ErrorCode } from '../contract/errors.ts';

/** One row of the exit code table; `docs/cli.md` is generated from it. */
export interface ExitRow {
  readonly code: number;
  readonly meaning: string;
}

export const EXITS = {
  ok: { code: 0, meaning: 'Done.' },
  general: { code: 1, meaning: 'It failed in a way that no other code names; also a failed check of `doctor`.' },
  usage: { code: 2, meaning: 'The command line or its input is not well formed.' },
  notFound: { code: 3, meaning: 'The named thing does not exist.' },
  refused: { code: 4, meaning: 'A check said no: incompatible, unsupported, ambiguous, or against a policy.' },
  auth: { code: 5, meaning: 'A key is missing, wrong, or without the scope.' },
  unavailable: { code: 6, meaning: 'No server, or the engine cannot be reached.' },
  config: { code: 7, meaning: 'The configuration is not valid, or the home that it names cannot be used.' },
  agentFailed: { code: 8, meaning: 'The coding agent crashed, or ran out of time, turns or budget.' },
  interrupted: { code: 130, meaning: 'Interrupted from the keyboard.' },
} as const satisfies Record<string, ExitRow>;

export type ExitName = keyof typeof EXITS;

/** The exit that a script sees for each error of the contract. */
const EXIT_OF_ERROR = {
  E001: 'refused',
  E002: 'refused',
  E003: 'refused',
  E004: 'refused',
  E005: 'refused',
  E006: 'refused',
  E007: 'unavailable',
  invalid_request: 'usage',
  unauthenticated: 'auth',
  forbidden: 'auth',
  not_found: 'notFound',
  replay_miss: 'notFound',
  method_not_allowed: 'general',
  request_timeout: 'unavailable',
  conflict: 'general',
  payload_too_large: 'general',
  unsupported_media_type: 'general',
  misdirected_request: 'general',
  unprocessable: 'usage',
  upgrade_required: 'general',
  headers_too_large: 'general',
  internal: 'general',
  engine_failed: 'unavailable',
  overloaded: 'unavailable',
  rate_limited: 'unavailable',
  budget_exceeded: 'refused',
  engine_timeout: 'unavailable',
  max_iterations: 'general',
  budget_exhausted: 'general',
  no_progress: 'general',
  CAPABILITY_ERROR: 'refused',
  VALIDATION_ERROR: 'usage',
  AUTH_ERROR: 'auth',
  AGENT_NOT_FOUND: 'notFound',
  AGENT_NOT_INSTALLED: 'unavailable',
  AGENT_CRASH: 'agentFailed',
  SPAWN_ERROR: 'agentFailed',
  TIMEOUT: 'agentFailed',
  INACTIVITY_TIMEOUT: 'agentFailed',
  PARSE_ERROR: 'general',
  PROTOCOL_HANDSHAKE_FAILED: 'agentFailed',
  PROTOCOL_VERSION_MISMATCH: 'agentFailed',
  PROTOCOL_INVALID_ENVELOPE: 'agentFailed',
  PROTOCOL_UNEXPECTED_MESSAGE: 'agentFailed',
  SIDECAR_FAILED: 'agentFailed',
  CONFIG_ERROR: 'config',
  CONFIG_LOCK_ERROR: 'config',
  SESSION_NOT_FOUND: 'notFound',
  PROFILE_NOT_FOUND: 'notFound',
  PLUGIN_ERROR: 'general',
  RATE_LIMITED: 'unavailable',
  CONTEXT_EXCEEDED: 'refused',
  ABORTED: 'interrupted',
  RUN_NOT_ACTIVE: 'general',
  STDIN_NOT_AVAILABLE: 'refused',
  NO_PENDING_INTERACTION: 'general',
  INTERACTION_NOT_FOUND: 'notFound',
  INVALID_STATE_TRANSITION: 'general',
  PTY_NOT_AVAILABLE: 'refused',
  UNKNOWN_AGENT: 'notFound',
  INTERNAL: 'general',
} as const satisfies Record<ErrorCode, ExitName>;

export function exitOfError(code: ErrorCode): ExitName {
  return EXIT_OF_ERROR[code];
}
