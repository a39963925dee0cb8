import type { CallContext } from '../../calls/context.ts';
import { engineDenial } from '../../calls/denied-engines.ts';
import type { EngineAccess } from '../../runtime/coding-agents/model-discovery.ts';
import type { Config } from '../config.ts';

/** How engines are asked for their lists of models. Throws for an engine that the operator denies to everybody: a list is a call, too. */
export function configuredAccess({ engines, policy }: Config): (engine: string) => EngineAccess {
  return (engine) => {
    assertAllowed(policy.deny_engines, engine);
    return engines[engine] ?? {};
  };
}

/** The same for a server, whose configuration may be read again while it runs. */
export function servedAccess(calls: Pick<CallContext, 'deployments' | 'denied'>): (engine: string) => EngineAccess {
  return (engine) => {
    assertAllowed(calls.denied.engines, engine);
    const { origin = '', basePath = '', key } = calls.deployments.get(engine)?.first ?? {};
    return origin === '' ? {} : { url: `${origin}${basePath}`, key };
  };
}

function assertAllowed(engines: readonly string[], engine: string): void {
  const denial = engineDenial(engines, engine);
  if (denial !== undefined) throw denial;
}
