import { CapabilityError } from '../contract/runs/run-error.ts';
import { HOOK_TYPES, type HookTable, type HookType, type RunHooks } from '../contract/runs/run-hooks.ts';
import type { Adapter } from './adapter.ts';

type Tabled = Pick<Adapter, 'waitsFor' | 'messages' | 'untold'>;

/**
 * Which hooks we can run for which agents. The prompt is ours until the agent starts; tools are the agent's, and can be stopped where it
 * waits for us; one that takes messages can be kept from stopping by one.
 */
export function hookTable({ waitsFor, messages, untold = [] }: Tabled): HookTable {
  const told = (hook: HookType) => (untold.includes(hook) ? 'unsupported' : 'nonblocking');
  return {
    preToolUse: waitsFor === undefined ? told('preToolUse') : 'blocking',
    postToolUse: told('postToolUse'),
    sessionStart: told('sessionStart'),
    sessionEnd: told('sessionEnd'),
    stop: messages === undefined ? told('stop') : 'blocking',
    userPromptSubmit: 'blocking',
  };
}

/** Refuses a hook that would never be called. */
export function checkHooks(adapter: Tabled & Pick<Adapter, 'agent'>, hooks: RunHooks): void {
  const table = hookTable(adapter);
  const never = HOOK_TYPES.find((hook) => hooks[hook] !== undefined && table[hook] === 'unsupported');
  if (never === undefined) return;
  const { agent } = adapter;
  throw new CapabilityError({ agent, capability: 'hooks', message: `Agent '${agent}' does not tell what the hook ${never} needs` });
}
