import { globMatch } from '../../base/glob.ts';
import { AbpError } from '../../contract/errors.ts';
import type { CompatibilityReport, NegotiationResult, Unmet } from '../../contract/negotiation.ts';
import { chooseEngine, type EngineChoice, engines } from '../../engines/index.ts';
import { modelFacts } from '../../mapping/model.ts';
import type { RouteRow } from '../../mapping/route.ts';
import { negotiate, type Requirements, unmet } from '../../negotiation/negotiate.ts';
import { generateReport } from '../../negotiation/report.ts';

/** What an agent without a model runs on: it needs no key. */
export const DEFAULT_MODEL = 'sim/sim-1';

/** The engine of an agent and the model name that it gets. */
export interface AgentModel extends EngineChoice {
  readonly model: string;
}

/** What the agent's model makes of what the agent needs. */
export interface AgentNegotiation {
  readonly backend: string;
  readonly result: NegotiationResult;
  readonly report: CompatibilityReport;
  readonly unmet: readonly Unmet[];
}

/** `engine/model`, or a name that the route table sends somewhere. An agent has no dialect of its own that could choose for it. */
export function agentModel(name: string | null, table: readonly Pick<RouteRow, 'match' | 'to'>[]): AgentModel {
  const wanted = name ?? DEFAULT_MODEL;
  const direct = split(wanted, undefined);
  if (direct !== undefined) return direct;
  const row = table.find(({ match }) => globMatch(match, wanted));
  const routed = row === undefined ? undefined : split(row.to, wanted);
  if (routed !== undefined) return routed;
  throw new AbpError(
    'unprocessable',
    `The model "${wanted}" names no engine; write engine/model with one of ${engines.map(({ id }) => id).join(', ')}.`,
    { model: wanted },
  );
}

function split(name: string, modelOfCaller: string | undefined): AgentModel | undefined {
  const slash = name.indexOf('/');
  const choice = chooseEngine(slash > 0 ? name.slice(0, slash) : name);
  const model = slash > 0 ? name.slice(slash + 1) : modelOfCaller;
  return choice === undefined || model === undefined || model === '' ? undefined : { ...choice, model };
}

/** Asked before a turn, and shown in the preview. */
export function negotiateAgent({ engine, model }: AgentModel, requirements: Requirements): AgentNegotiation {
  const { manifest } = modelFacts(engine, model);
  const result = negotiate(manifest, requirements);
  return { backend: `engine:${engine.id}`, result, report: generateReport(result, manifest), unmet: unmet(manifest, requirements) };
}
