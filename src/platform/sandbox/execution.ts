import type { Json } from '../../base/json.ts';

/** Limits of time, memory and output for code. */
export interface Limits {
  readonly timeMs: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Characters that are kept of what it prints and of what it returns. */
  readonly outputCharacters: number;
}

export const DEFAULT_LIMITS: Limits = {
  timeMs: 5000,
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 512 * 1024,
  outputCharacters: 64 * 1024,
};

/** Why code ended that nobody waits for any more. */
export const GIVEN_UP = 'the call was given up';

/** The end of code that was given up before it began. */
export const NEVER_BEGAN: Execution = { status: 'timed_out', stdout: '', truncated: false, error: GIVEN_UP };

/** Code to run. */
export interface Program {
  readonly language: 'javascript' | 'typescript';
  readonly code: string;
  /** The code is a module; its default export is called with these. Without it the code is a script and its last value is the result. */
  readonly callWith?: readonly Json[];
  /** The code is a module of that kind, and is only loaded. */
  readonly inspect?: true;
}

/** How code ended. `value` is absent where there is none, or where it has no JSON form. */
export interface Execution {
  readonly status: 'completed' | 'threw' | 'timed_out' | 'crashed';
  readonly stdout: string;
  /** Errors that completed code has printed, where the language tells them apart. */
  readonly stderr?: string;
  /** Something was printed beyond the limit and is lost. */
  readonly truncated: boolean;
  readonly value?: Json;
  readonly error?: string;
}
