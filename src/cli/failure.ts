import type { JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { type ExitName, exitOfError } from './exit-codes.ts';
import { hintOf } from './hints.ts';

/** A failure on this side of the wire, where the contract's table has no row because no server was asked. */
const CLI_FAULTS = {
  usage: { type: 'UsageError', exit: 'usage' },
  config: { type: 'ConfigError', exit: 'config' },
  not_found: { type: 'NotFound', exit: 'notFound' },
  no_server: { type: 'NoServer', exit: 'unavailable' },
  other_version: { type: 'OtherVersion', exit: 'unavailable' },
  no_key: { type: 'NoKey', exit: 'auth' },
  no_sign_in: { type: 'NoSignIn', exit: 'auth' },
} as const satisfies Record<string, { type: string; exit: ExitName }>;

/** A fault of the command line itself, with its own hint. */
export class CliError extends Error {
  readonly code: keyof typeof CLI_FAULTS;
  readonly hint: string;
  readonly details: JsonObject;

  constructor(code: keyof typeof CLI_FAULTS, message: string, rest: { hint: string; details?: JsonObject; cause?: unknown }) {
    super(message, { cause: rest.cause });
    this.name = 'CliError';
    this.code = code;
    this.hint = rest.hint;
    this.details = rest.details ?? {};
  }
}

/** Any thrown thing, ready to be shown. */
export interface Failure {
  readonly exit: ExitName;
  readonly error: { code: string; type: string; message: string; details: JsonObject; retryable: boolean; hint: string };
}

/** Any thrown thing as a failure; `env` is the environment of the command, which may differ from that of the server. */
export function toFailure(thrown: unknown, env: NodeJS.ProcessEnv = {}): Failure {
  if (thrown instanceof CliError) {
    const { type, exit } = CLI_FAULTS[thrown.code];
    const { code, details, hint } = thrown;
    return { exit, error: { code, type, message: oneLine(thrown.message), details, retryable: code === 'no_server', hint } };
  }
  if (AbpError.is(thrown)) {
    const { code, details, row } = thrown;
    return {
      exit: exitOfError(code),
      error: { code, type: row.type, message: oneLine(thrown.message), details, retryable: thrown.retryable, hint: hintOf(thrown, env) },
    };
  }
  const message = oneLine(thrown instanceof Error ? thrown.message : String(thrown));
  const hint = 'Set ABP_DEBUG=1 to see where it happened.';
  return { exit: 'general', error: { code: 'internal', type: 'InternalError', message, details: {}, retryable: false, hint } };
}

function oneLine(message: string): string {
  return message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
