import type { RetryPolicy } from '../../contract/runs/run-options.ts';

/** Milliseconds before try number `attempt` (the second is 2): twice as long each time, with a share of chance. */
export function retryDelay(policy: RetryPolicy, attempt: number, random: number = Math.random()): number {
  const wait = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 2));
  return Math.round(wait * (1 + policy.jitterFactor * (random * 2 - 1)));
}

/** Whether a failure may be tried again. What has acted is never repeated. */
export function mayRetry(
  policy: RetryPolicy | undefined,
  failure: { readonly code: string; readonly attempt: number; readonly acted: boolean },
): policy is RetryPolicy {
  return policy !== undefined && !failure.acted && failure.attempt < policy.maxAttempts && policy.retryOn.includes(failure.code);
}
