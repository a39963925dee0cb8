import { ERRORS, isErrorCode } from '../../contract/errors.ts';

/** What somebody can do about a run that did not complete; undefined where nobody knows. */
export function nextStep(code: string, agent: string, runId: string): string | undefined {
  const own = STEPS[code]?.(agent, runId);
  if (own !== undefined) return own;
  return isErrorCode(code) ? ERRORS[code].remedy : undefined;
}

/** Where the command line knows more than the table of errors. */
const STEPS: Readonly<Record<string, (agent: string, runId: string) => string>> = {
  AGENT_NOT_INSTALLED: (agent) => `Install it with abp install ${agent}.`,
  E007: () => 'Set the engine’s key (ABP_ENGINE_<ID>_KEY), or try --engine sim, which needs none; abp doctor says what is set.',
  AUTH_ERROR: (agent) => `abp adapters doctor ${agent} says how it is logged in; with --engine it runs on a key of the gateway.`,
  // The agent's own words stand above; what it did stands in the receipt.
  INTERNAL: (_, runId) => `abp receipts show ${runId} says what was recorded.`,
  AGENT_CRASH: (_, runId) => `abp receipts show ${runId} says what was recorded.`,
};
