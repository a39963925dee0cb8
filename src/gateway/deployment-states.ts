import type { Gateway } from './gateway.ts';

/** One of several deployments of an engine, and why it is left alone; undefined where it gets calls. */
interface DeploymentState {
  readonly engine: string;
  readonly deployment: string;
  readonly pause: 'limited' | 'failing' | 'key_refused' | 'breaker' | undefined;
}

/** The deployments of engines that have several. A rest for one model alone is none of the deployment. */
export function deploymentStates(deployments: Gateway['calls']['deployments']): DeploymentState[] {
  const now = Date.now();
  return [...deployments].flatMap(([engine, { all }]) =>
    all.flatMap(({ place, health }) => {
      if (place === undefined) return [];
      const rest = place.load.rests(now).find(({ model }) => model === null)?.reason;
      return [{ engine, deployment: place.name, pause: rest ?? (health?.isOpen === true ? 'breaker' : undefined) }];
    }),
  );
}
