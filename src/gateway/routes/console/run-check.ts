import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import { RunOptions } from '../../../contract/runs/run-options.ts';
import { createProfiles } from '../../../runtime/profiles.ts';
import { RunCheck } from '../../api/runs.ts';
import { authorizeRun } from '../../auth/access.ts';
import { defineRoute } from '../../route.ts';
import { codingAgentsOf, runServiceOf } from '../../run-plane/runs.ts';

/** Options that never reach the agent itself and hold nevertheless, because its model calls come through us. */
const ON_THE_WIRE = { thinkingEffort: 'the gateway sets it on the wire', model: 'the gateway sets it on the wire' } as const;

function fidelityOf(options: RunOptions): { path: string; fate: 'emulated'; note: string }[] {
  if (options.direct === true || options.engine === undefined) return [];
  return Object.entries(ON_THE_WIRE).flatMap(([path, note]) => (path in options ? [{ path, fate: 'emulated' as const, note }] : []));
}

export const runCheckRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/runs/check',
    summary: 'What would become of a run with these options; nothing is started.',
    body: RunOptions,
    response: RunCheck,
    handle: async ({ gateway, principal, body }) => {
      try {
        const options = createProfiles({ homePath: gateway.home.installation }).apply(body);
        authorizeRun(principal, { agent: options.agent, engine: options.direct === true ? 'direct' : options.engine });
        await (await runServiceOf(gateway)).check(options);
        const { installed } = await (await codingAgentsOf(gateway)).adapters.detect(options.agent, {});
        if (!installed)
          return { ok: false, fidelity: [], error: { code: 'AGENT_NOT_INSTALLED', message: `${options.agent} is not installed here.` } };
        return { ok: true, fidelity: fidelityOf(options) };
      } catch (error) {
        if (!(error instanceof AgentMuxError)) throw error;
        return { ok: false, fidelity: [], error: { code: error.code, message: error.message } };
      }
    },
  }),
];
