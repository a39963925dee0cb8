import type { GatewayRoute, SpawnPlan } from '../../adapter.ts';

/** How an agent names one dialect of ours, and what it expects at the end of the address. */
export interface Wire {
  readonly dialect: string;
  /** The agent's own word for it. */
  readonly api: string;
  /** The end of the address that we give the agent; it appends the rest of the path itself. */
  readonly path: string;
}

/** The variable of the child that holds the run key. */
export const KEY_VARIABLE = 'ABP_RUN_KEY';

/** The wire that the engine speaks by itself, where the agent can; else the first of the agent's own. */
function spokenWire({ dialect }: Pick<GatewayRoute, 'dialect'>, wires: readonly [Wire, ...Wire[]]): Wire {
  return wires.find((wire) => wire.dialect === dialect) ?? wires[0];
}

/** That wire and the address at which the gateway speaks it. */
export function wireTo(gateway: GatewayRoute, wires: readonly [Wire, ...Wire[]]): Wire & { readonly baseUrl: string } {
  const wire = spokenWire(gateway, wires);
  return { ...wire, baseUrl: `${gateway.origin}/e/${gateway.engine}${wire.path}` };
}

/** The model as the engine knows it. An engine decides by itself what `default` means, or says that it does not know. */
export function wireModel(plan: SpawnPlan): string {
  return plan.model?.providerModelId ?? plan.modelId ?? 'default';
}
