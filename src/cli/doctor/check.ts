import type { LoadedConfig } from '../../gateway/config.ts';

type Status = 'ok' | 'warn' | 'fail';

/** The finding of one check; `fix` says what to do and stands only beside a warning or a failure. */
export interface Finding {
  readonly status: Status;
  readonly message: string;
  readonly fix?: string;
}

/** The subject of the checks: the home, and the configuration or why it cannot be read. */
export interface Subject {
  readonly home: string;
  readonly loaded: LoadedConfig | Error;
}

/** One check. It only looks: nothing is created, repaired or migrated. */
export interface Check {
  readonly name: string;
  run(subject: Subject): Finding | Promise<Finding>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warn = (message: string, fix: string): Finding => ({ status: 'warn', message, fix });
export const fail = (message: string, fix: string): Finding => ({ status: 'fail', message, fix });

/** For a check that needs a value of the configuration. */
export const notChecked = (): Finding => warn('not checked: the configuration is not valid', 'Correct the configuration first.');

/** A check that breaks has found something too. */
export async function examine(check: Check, subject: Subject): Promise<Finding & { readonly check: string }> {
  try {
    return { check: check.name, ...(await check.run(subject)) };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { check: check.name, ...fail(`could not be checked: ${message}`, 'Correct what the message names and run doctor again.') };
  }
}
