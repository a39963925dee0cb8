import { AbpError } from '../contract/errors.ts';
import type { ExchangeFailure } from '../upstream/exchange.ts';
import type { Deployment } from './deployment.ts';

/** A failed exchange as an error of ours. */
export function failureError(failure: ExchangeFailure, deployment: Deployment): AbpError {
  if (failure.error !== undefined) return failure.error;
  const { name, id } = deployment.engine;
  const at = deployment.origin === '' ? '' : ` at ${deployment.origin}`;
  const details = { backend_id: `engine:${id}`, reason: failure.message, ...(at === '' ? {} : { url: deployment.origin }) };
  switch (failure.kind) {
    case 'unreachable':
      return new AbpError('E007', `${name}${at} cannot be reached: ${failure.message}`, details);
    case 'timeout':
      return new AbpError('engine_timeout', `${name} did not answer in time`, details);
    case 'busy':
      return new AbpError('overloaded', `${name}: ${failure.message}`, details);
    default:
      return new AbpError('engine_failed', `${name} broke off: ${failure.message}`, details);
  }
}

/** Whether an engine sends its callers elsewhere instead of answering. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

export function redirectError(status: number, { engine }: Deployment): AbpError {
  const told = `${engine.name} answered ${status}, a redirect, which is not followed; engines.${engine.id}.url must be the address that serves`;
  return new AbpError('engine_failed', told, { backend_id: `engine:${engine.id}`, status });
}
