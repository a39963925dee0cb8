import { AbpError } from '../contract/errors.ts';
import { CliError } from './failure.ts';

/** Runs work that reads the configuration; what it finds malformed is then a fault of the configuration, not of the command line. */
export async function withConfig<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!AbpError.is(thrown) || thrown.code !== 'invalid_request') throw thrown;
    const hint = thrown.hint ?? 'Correct the values it names; abp config check shows the ones in effect.';
    throw new CliError('config', thrown.message, { hint, details: thrown.details, cause: thrown });
  }
}
