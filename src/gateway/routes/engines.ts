import { isoTime } from '../../base/clock.ts';
import type { Balancer } from '../../calls/balancing/balancer.ts';
import type { Deployment } from '../../calls/deployment.ts';
import { EngineList, type EngineView } from '../api/engines.ts';
import { defineRoute } from '../route.ts';

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

function view({ first: { engine, origin, basePath, auth, key, health }, all }: Balancer): EngineView {
  const seen = health?.snapshot();
  return {
    id: engine.id,
    name: engine.name,
    base: engine.base ?? null,
    url: origin === '' ? null : `${origin}${basePath}`,
    aliases: [...engine.aliases],
    dialects: [...engine.dialects],
    auth,
    has_key: key !== undefined,
    key_variable: engine.auth?.env[0] ?? null,
    health:
      seen === undefined
        ? null
        : {
            state: seen.state,
            failures_in_a_row: seen.failuresInARow,
            last_success_at: time(seen.lastSuccessAt),
            last_failure_at: time(seen.lastFailureAt),
            last_failure: seen.lastFailure,
          },
    deployments: all.flatMap(deploymentView),
  };
}

function deploymentView({ place, origin, basePath, key, health }: Deployment): EngineView['deployments'] {
  if (place === undefined) return [];
  const rests = place.load.rests(Date.now());
  return [
    {
      name: place.name,
      region: place.region ?? null,
      url: origin === '' ? null : `${origin}${basePath}`,
      weight: place.weight,
      has_key: key !== undefined,
      outstanding: place.load.outstanding,
      state: health?.isOpen === true || rests.some(({ model }) => model === null) ? 'resting' : 'ready',
      rests: rests.map(({ reason, until, model }) => ({ reason, until: isoTime(until), model })),
    },
  ];
}

export const engineRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/engines',
    summary: 'Every engine: the dialects it speaks, whether it has a key, and how calls to it have fared.',
    response: EngineList,
    handle: ({ gateway }) => {
      const items = [...gateway.calls.deployments.values()].map(view);
      return { items, total: items.length };
    },
  }),
];
