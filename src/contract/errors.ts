import type { JsonObject } from '../base/json.ts';
import type { Capability } from './capability.ts';
import type { ErrorRow } from './error-row.ts';
import { RUN_ERRORS } from './runs/run-error-table.ts';
import type { MinSupport, SupportLevel } from './support.ts';

export type { ErrorRow };

/** The one table of errors. */
export const ERRORS = {
  E001: {
    type: 'UnsupportedFeature',
    status: 400,
    retryable: false,
    meaning: 'A field of the request has no form on the chosen engine.',
    remedy: 'Remove the field, choose another engine, or opt in to its emulation with X-ABP-Emulate.',
  },
  E002: {
    type: 'UnsupportedTool',
    status: 400,
    retryable: false,
    meaning: 'A hosted or named tool is not available on the chosen engine.',
    remedy: 'Use one of the alternatives named in the details, or an engine that has the tool.',
  },
  E003: {
    type: 'AmbiguousMapping',
    status: 400,
    retryable: false,
    meaning: 'The request can be read in several ways.',
    remedy: 'Keep one of the readings named in the details.',
  },
  E004: {
    type: 'RequiresInteractiveApproval',
    status: 403,
    retryable: true,
    meaning: 'The operation needs an approval and no channel answered.',
    remedy: 'Answer the approval, or run with a channel that can.',
  },
  E005: {
    type: 'UnsafeByPolicy',
    status: 403,
    retryable: false,
    meaning: 'A policy forbids the operation.',
    remedy: 'Change the request, or ask the owner of the policy.',
  },
  E006: {
    type: 'BackendCapabilityMissing',
    status: 501,
    retryable: false,
    meaning: 'A required capability is missing on the backend, or strict mode met one that is not native.',
    remedy: 'Lower the requirement, use best_effort, or choose a backend that has the capability.',
  },
  E007: {
    type: 'BackendUnavailable',
    status: 503,
    retryable: true,
    meaning: 'The engine cannot be reached, or it has no key.',
    remedy: 'Set the key that the message names, or try again when the engine is back.',
  },
  invalid_request: {
    type: 'InvalidRequest',
    status: 400,
    retryable: false,
    meaning: 'The request is not well formed.',
    remedy: 'Correct what the message names.',
  },
  unauthenticated: {
    type: 'Unauthenticated',
    status: 401,
    retryable: false,
    meaning: 'The call needs a key and has none that is valid.',
    remedy: 'Send an abp_ key in X-ABP-Key or where your SDK puts its API key.',
  },
  forbidden: {
    type: 'Forbidden',
    status: 403,
    retryable: false,
    meaning: 'The caller may not do this.',
    remedy: 'Use a key with the scope that the message names, or the token of the home.',
  },
  not_found: {
    type: 'NotFound',
    status: 404,
    retryable: false,
    meaning: 'There is nothing under this address or id.',
    remedy: 'Check the id and the path; /openapi.json lists the paths.',
  },
  replay_miss: {
    type: 'ReplayMiss',
    status: 404,
    retryable: false,
    meaning: 'No recorded run answers this request.',
    remedy: 'Record the request first, or let the difference that the message names be ignored.',
  },
  method_not_allowed: {
    type: 'MethodNotAllowed',
    status: 405,
    retryable: false,
    meaning: 'The path exists, the method does not.',
    remedy: 'Use the method that the Allow header names.',
  },
  request_timeout: {
    type: 'RequestTimeout',
    status: 408,
    retryable: true,
    meaning: 'The request did not arrive in time.',
    remedy: 'Send it again.',
  },
  conflict: {
    type: 'Conflict',
    status: 409,
    retryable: false,
    meaning: 'The state of the thing does not allow this.',
    remedy: 'Settle what the message names, then try again.',
  },
  payload_too_large: {
    type: 'PayloadTooLarge',
    status: 413,
    retryable: false,
    meaning: 'The body is larger than the limit that the message names.',
    remedy: 'Send less.',
  },
  unsupported_media_type: {
    type: 'UnsupportedMediaType',
    status: 415,
    retryable: false,
    meaning: 'The content type is not one this path takes.',
    remedy: 'Send application/json.',
  },
  misdirected_request: {
    type: 'MisdirectedRequest',
    status: 421,
    retryable: false,
    meaning: 'The Host header does not name this server.',
    remedy: 'Call the server by an address it listens on, or add the name to server.hosts in abp.toml.',
  },
  unprocessable: {
    type: 'Unprocessable',
    status: 422,
    retryable: false,
    meaning: 'The request is well formed but its values do not fit together.',
    remedy: 'Correct what the message names.',
  },
  upgrade_required: {
    type: 'UpgradeRequired',
    status: 426,
    retryable: false,
    meaning: 'This path is plain HTTP.',
    remedy: 'Use the HTTP form of the call.',
  },
  headers_too_large: {
    type: 'HeadersTooLarge',
    status: 431,
    retryable: false,
    meaning: 'The request headers are larger than 64 KiB.',
    remedy: 'Send fewer or smaller headers.',
  },
  rate_limited: {
    type: 'RateLimited',
    status: 429,
    retryable: true,
    meaning: 'The caller has reached a limit that the operator of this backplane has set for it.',
    remedy: 'Try again after the time that Retry-After names, or ask for a higher limit.',
  },
  budget_exceeded: {
    type: 'BudgetExceeded',
    status: 429,
    retryable: false,
    meaning: 'A budget that the operator of this backplane has set is used up.',
    remedy: 'Wait for the time that Retry-After names, or ask for a higher budget: abp budgets set.',
  },
  internal: {
    type: 'InternalError',
    status: 500,
    retryable: false,
    meaning: 'A fault of the backplane.',
    remedy: 'Report it with the run id.',
  },
  engine_failed: {
    type: 'EngineFailed',
    status: 502,
    retryable: true,
    meaning: 'The engine answered with something that cannot be used, or broke off.',
    remedy: 'Try again; the receipt of the run has what arrived.',
  },
  overloaded: {
    type: 'Overloaded',
    status: 503,
    retryable: true,
    meaning: 'The backplane has reached a limit of its own.',
    remedy: 'Try again in a moment.',
  },
  engine_timeout: {
    type: 'EngineTimeout',
    status: 504,
    retryable: true,
    meaning: 'The engine did not answer before the deadline.',
    remedy: 'Try again, or raise the timeout of the engine.',
  },
  max_iterations: {
    type: 'TooManyIterations',
    status: 409,
    retryable: false,
    meaning: 'A turn of an agent has called its model as often as it may.',
    remedy: 'Raise max_iterations of the session or the agent, or ask for less at once.',
  },
  budget_exhausted: {
    type: 'BudgetExhausted',
    status: 402,
    retryable: false,
    meaning: 'The turn or the session has used up what it may cost.',
    remedy: 'Raise max_cost_usd of the agent or the session, or begin another session.',
  },
  no_progress: {
    type: 'NoProgress',
    status: 500,
    retryable: true,
    meaning: 'A turn was taken over again and again, and every process that worked on it ended.',
    remedy: 'Look in the logs for why they ended, then send the message again.',
  },
  ...RUN_ERRORS,
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** Messages quote what they complain about, and that may be as long as a request. */
const LONGEST_MESSAGE = 4000;

/** SDKs wait this long for another try, and give up before they wait longer. */
const SHORT_WAIT_S = 60;

const brand = Symbol.for('agent-backplane.error');

/** The one error class. Status, type and retryable follow from the code. */
export class AbpError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;
  /** The next step in this very situation; without one the remedy of the code is told. */
  readonly hint: string | undefined;
  readonly [brand] = true;

  constructor(code: ErrorCode, message: string, details: JsonObject = {}, hint?: string) {
    super(message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE).toWellFormed()}…`);
    this.name = 'AbpError';
    this.code = code;
    this.details = details;
    this.hint = hint;
  }

  get row(): ErrorRow {
    return ERRORS[this.code];
  }

  /** Whether trying again may help: by the table, and whenever the error itself says to come back within a minute. */
  get retryable(): boolean {
    const { retry_after_s: seconds } = this.details;
    return this.row.retryable || (typeof seconds === 'number' && seconds <= SHORT_WAIT_S);
  }

  static is(error: unknown): error is AbpError {
    return error instanceof Error && brand in error;
  }
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** The circumstances of an error when it is written: which run, when, and where its page is. */
export interface ErrorContext {
  readonly requestId: string;
  readonly timestamp: string;
  readonly documentationBase: string;
}

/** The error body of the contract; vendors' outer members are added by their dialect. */
export function errorBody(error: AbpError, context: ErrorContext): { error: JsonObject } {
  return {
    error: {
      code: error.code,
      type: error.row.type,
      message: error.message,
      details: { ...error.details, documentation_url: `${context.documentationBase}/docs/errors/${error.code}` },
      request_id: context.requestId,
      timestamp: context.timestamp,
      retryable: error.retryable,
    },
  };
}

/** Who asks and who should serve: what the details of a mapping error name. */
export interface MappingParties {
  readonly dialectId: string;
  /** The seed's family name, e.g. `claude-style`, `codex-style`. */
  readonly dialectStyle: string;
  readonly engineId: string;
  readonly engineName: string;
}

/** A field has no form on the engine. `title` begins the sentence: "Extended thinking". */
export function unsupportedFeature(feature: string, title: string, parties: MappingParties): AbpError {
  return new AbpError('E001', `${title} is not supported by ${parties.engineName} backend`, {
    feature,
    dialect: parties.dialectStyle,
    dialect_id: parties.dialectId,
    engine: parties.engineId,
  });
}

/** A requirement is not met, or strict mode met a level below native. */
export function capabilityMissing(f: {
  capability: Capability;
  level: SupportLevel | null;
  minSupport: MinSupport;
  backend: string;
}): AbpError {
  const level = f.level ?? 'unsupported';
  const missing = f.level === null || f.level === 'unsupported';
  const words = typeof level === 'string' ? level : `restricted (${level.restricted.reason})`;
  return new AbpError('E006', `${f.backend} offers ${f.capability} as ${words}, required is ${f.minSupport}`, {
    capability: f.capability,
    support_level: level,
    min_support: f.minSupport,
    backend: f.backend,
    cause: missing ? 'CAPABILITY_UNSUPPORTED' : 'REQUIRES_NATIVE',
  });
}
