import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../errors.ts';
import type { RunId } from '../run-id.ts';
import type { AgentName } from './coding-agent.ts';
import { RUN_ERRORS, type RunErrorCode } from './run-error-table.ts';

/** A failure of a run of a coding agent. It is an error of the one table, narrowed to the rows of runs. */
export class AgentMuxError extends AbpError {
  declare readonly code: RunErrorCode;
  /** Whether the same run may succeed later. */
  readonly recoverable: boolean;

  constructor(code: RunErrorCode, message: string, details: JsonObject = {}) {
    super(code, message, details);
    this.name = 'AgentMuxError';
    this.recoverable = RUN_ERRORS[code].retryable;
  }
}

/** The names under which a gate refuses, in the order gates are tried. */
const GATED_CAPABILITIES = [
  'thinking',
  'thinkingBudget',
  'jsonMode',
  'sessionResume',
  'sessionFork',
  'skills',
  'mcp',
  'textStreaming',
  'imageInput',
  'fileAttachments',
  'plugins',
  'hooks',
  'invocation',
] as const;
export type GatedCapability = (typeof GATED_CAPABILITIES)[number];

export interface CapabilityRefusal {
  readonly agent: AgentName;
  readonly capability: GatedCapability;
  readonly model?: string;
  /** Where there is a sentence of its own for the case. */
  readonly message?: string;
}

/** An option asks for what the agent or its model cannot do. Thrown before anything is spawned. */
export class CapabilityError extends AgentMuxError {
  declare readonly code: 'CAPABILITY_ERROR';
  readonly agent: AgentName;
  readonly capability: GatedCapability;
  readonly model?: string;

  constructor({ agent, capability, model, message = `Agent '${agent}' does not support ${capability}` }: CapabilityRefusal) {
    super('CAPABILITY_ERROR', message, { agent, capability, ...(model === undefined ? {} : { model }) });
    this.name = 'CapabilityError';
    this.agent = agent;
    this.capability = capability;
    if (model !== undefined) this.model = model;
  }
}

/** One field that is not as it must be. Values are shown as text, shortened; a secret never stands in an option that is shown. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
  readonly received?: string;
  readonly expected?: string;
}

/** Options of a run are not well formed. */
export class ValidationError extends AgentMuxError {
  declare readonly code: 'VALIDATION_ERROR';
  readonly fields: readonly FieldFault[];

  constructor(fields: readonly FieldFault[]) {
    const words = fields.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
    super('VALIDATION_ERROR', `run options are not valid: ${words.join('; ')}`, { fields: fields.map((fault) => ({ ...fault })) });
    this.name = 'ValidationError';
    this.fields = fields;
  }
}

export type AuthStatus = 'authenticated' | 'unauthenticated' | 'expired' | 'unknown';

/** The agent has no credential that its provider takes. */
export class AuthError extends AgentMuxError {
  declare readonly code: 'AUTH_ERROR';
  readonly agent: AgentName;
  readonly status: AuthStatus;
  readonly guidance: readonly string[];

  constructor(f: { agent: AgentName; status: AuthStatus; guidance: readonly string[]; message?: string }) {
    super('AUTH_ERROR', f.message ?? `Agent '${f.agent}' is not logged in`, {
      agent: f.agent,
      status: f.status,
      guidance: [...f.guidance],
    });
    this.name = 'AuthError';
    this.agent = f.agent;
    this.status = f.status;
    this.guidance = f.guidance;
  }
}

/** The id that a caller has made for a run is that of another one, or of the same one, started before. */
export function runExists(run: RunId): AbpError {
  const path = `/v1/runs/${run}`;
  return new AbpError('conflict', `There is a run ${run} already: ${path}`, { run_id: run, path });
}
