import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';
import { findFact } from '../../src/models/find-fact.ts';
import { startGateway } from '../support/gateway.ts';
import { textOf } from './files.ts';
import { no, notClaimed, type Scenario, type Verdict, yes } from './scenario.ts';
import { type Played, Stage } from './stage.ts';
import { startVendor, type Vendor } from './vendor.ts';
import { whyNot } from './why-not.ts';

const MODELS = { claude: 'claude-sonnet-4-5', openai: 'gpt-5.2' } as const;
/** The engine of each vendor that agents list models of. */
const ENGINES = { anthropic: 'claude', openai: 'openai', google: 'gemini' } as const;
type EngineId = (typeof ENGINES)[keyof typeof ENGINES];

/** A gateway whose engines are vendors of this machine that write down every request. */
interface Recorded {
  readonly stage: Stage;
  readonly vendors: Readonly<Record<EngineId, Vendor>>;
}

async function onRecordingEngines(
  stage: Stage,
  play: (recorded: Recorded) => Promise<Verdict>,
  keyed: readonly EngineId[] = ['claude', 'openai'],
): Promise<Verdict> {
  const sim = await startGateway();
  const vendor = (): Promise<Vendor> => startVendor(`${sim.url}/e/sim`);
  const vendors = { claude: await vendor(), openai: await vendor(), gemini: await vendor() };
  const key = 'sk-recorded';
  const engines = Object.fromEntries(keyed.map((id) => [id, { url: vendors[id].url, key }]));
  const other = await Stage.open(stage.agent, stage.env.PATH ?? '', stage.patienceMs, engines);
  try {
    return await play({ stage: other, vendors });
  } finally {
    await other.close();
    for (const one of Object.values(vendors)) one.close();
    await sim.close();
  }
}

/** The requests of the work: those that offer tools. Titles and the like are side calls. */
function bodiesAt({ arrived }: Vendor, from: number): readonly JsonObject[] {
  const all = arrived
    .slice(from)
    .map(({ body }) => parseJsonObject(body))
    .filter((body) => body !== undefined);
  const work = all.filter(({ tools }) => Array.isArray(tools) && tools.length > 0);
  return work.length > 0 ? work : all;
}

export const secondEngine: Scenario = {
  name: 'engines',
  about:
    'the file is written on a Claude engine and on an OpenAI one, which record what reaches them: the model that was asked for, and no other',
  play: (stage) =>
    onRecordingEngines(stage, async ({ stage: other, vendors }) => {
      for (const engine of ['claude', 'openai'] as const) {
        const cwd = other.workspace();
        const prompt = 'write the text over and out into the file out.txt';
        const played = await other.play({ prompt, cwd, engine, model: MODELS[engine], approvalMode: 'yolo' });
        const models = new Set(vendors[engine].arrived.flatMap(({ body }) => parseJsonObject(body)?.model ?? []));
        if (textOf(join(cwd, 'out.txt')).trim() !== 'over and out') return no(`${engine}: no file; ${whyNot(played)}`);
        // The vendor has a dated name for the same model.
        const isAsked = (model: Json): boolean =>
          model === MODELS[engine] || (typeof model === 'string' && findFact(model)?.id === MODELS[engine]);
        if (models.size === 0 || ![...models].every(isAsked)) return no(`${engine} was asked for ${[...models].join(', ')}`);
      }
      return yes(`${vendors.claude.arrived.length} and ${vendors.openai.arrived.length} requests`);
    }),
};

interface ModelWish {
  readonly model: string;
  /** The engine that is named, if any. */
  readonly named: EngineId | undefined;
  /** The engine that must be reached, and the model it must be asked for. */
  readonly engine: EngineId;
  readonly expected: string;
}

/** Which model the vendor was asked for; a problem in words where it is another one, or none. */
async function modelProblem({ stage, vendors }: Recorded, { model, named, engine, expected }: ModelWish): Promise<string | undefined> {
  const vendor = vendors[engine];
  const from = vendor.arrived.length;
  const played = await stage.play({ model, engine: named });
  const models = new Set(modelsAt(vendor, from));
  if (models.size === 1 && models.has(expected) && played.result.exitReason === 'completed') return undefined;
  const wish = named === undefined ? model : `${model} on ${named}`;
  return `${wish}: ${engine} was asked for ${[...models].join(', ') || 'nothing'}; ${whyNot(played)}`;
}

/** The models of the work. One vendor has the name of the model in the path. */
function modelsAt(vendor: Vendor, from: number): string[] {
  const work = bodiesAt(vendor, from);
  const sent = vendor.arrived.slice(from).map(({ body, path }) => ({ body: parseJsonObject(body), path }));
  return sent
    .filter(({ body }) => work.some((one) => JSON.stringify(one) === JSON.stringify(body)))
    .map(({ body, path }) => String(body?.model ?? /models\/([^:]+):/.exec(path)?.[1]));
}

/** A model to try: one that is listed under the name of its vendor where there is one, else one of the agent's own vendor. */
function listedModel({ agents, agent }: Stage): { model: string; bare: string; engine: EngineId } | undefined {
  const { traffic } = agents.adapters.get(agent);
  const current = agents.models.models(agent).filter(({ deprecated }) => !deprecated);
  const own = traffic.dialect === 'claude' ? 'anthropic' : traffic.dialect === 'gemini' ? 'google' : 'openai';
  const prefixed = current.find(({ modelId }) => modelId.startsWith('anthropic/'));
  // `auto` lets the agent choose.
  const found = prefixed ?? current.find(({ provider, modelId }) => provider === own && modelId !== 'auto');
  if (found === undefined) return undefined;
  const { modelId: model, providerModelId: bare = model.replace('anthropic/', '') } = found;
  return { model, bare, engine: ENGINES[prefixed === undefined ? own : 'anthropic'] };
}

export const listedModels: Scenario = {
  name: 'models',
  about:
    'a model that the agent lists, with the name of its vendor where it has one, reaches that vendor under the vendor’s own name, with one key and with several, with and without an engine named; so does the bare name',
  async play(stage) {
    const listed = listedModel(stage);
    if (listed === undefined) return notClaimed('it lists no model');
    const { model, bare, engine } = listed;
    const all = async (recorded: Recorded): Promise<Verdict> => {
      for (const name of new Set([model, bare])) {
        for (const named of [undefined, engine]) {
          const problem = await modelProblem(recorded, { model: name, named, engine, expected: bare });
          if (problem !== undefined) return no(problem);
        }
      }
      return yes(`${model}: ${bare}`);
    };
    const withOneKey = await onRecordingEngines(stage, all, [engine]);
    return withOneKey.mark === 'no' ? withOneKey : await onRecordingEngines(stage, all, ['claude', 'openai', 'gemini']);
  },
};

const WISHES: readonly Partial<RunOptions>[] = [
  { thinkingEffort: 'low' },
  { thinkingEffort: 'medium' },
  { thinkingEffort: 'high' },
  { thinkingEffort: 'max' },
  { thinkingBudgetTokens: 5000 },
];

/** The members of thinking that an event of the run, or its receipt, says stand on the wire. */
function membersIn(note: string | undefined): JsonObject | undefined {
  return parseJsonObject(/the gateway sets (\{.*?\}) on every call/.exec(note ?? '')?.[1] ?? '');
}

function contains(body: JsonObject, members: JsonObject): boolean {
  return Object.entries(members).every(([name, value]) => {
    const there = body[name];
    return isJsonObject(value) ? isJsonObject(there) && contains(there, value) : there === value;
  });
}

async function problemOf(
  { stage, vendors }: Recorded,
  engine: keyof typeof MODELS,
  wish: Partial<RunOptions>,
): Promise<string | undefined> {
  const from = vendors[engine].arrived.length;
  const played = await stage.play({ ...wish, engine, model: MODELS[engine] });
  const said = sayingOf(played);
  const members = membersIn(said);
  if (members === undefined) return `no event says what is set: ${said ?? whyNot(played)}`;
  const bodies = bodiesAt(vendors[engine], from);
  if (bodies.length === 0) return `nothing arrived: ${whyNot(played)}`;
  const wrong = bodies.find((body) => !contains(body, members));
  if (wrong !== undefined) return `${JSON.stringify(members)} was said, ${JSON.stringify(thinkingOf(wrong))} arrived`;
  const { fidelity } = await stage.receipt(played.result.runId);
  const rows = (Array.isArray(fidelity) ? fidelity : []).filter(isJsonObject).filter(({ path }) => path === 'thinking');
  const told = rows.some(({ note }) => JSON.stringify(membersIn(String(note))) === JSON.stringify(members));
  return told ? undefined : `the receipt says ${JSON.stringify(rows)}`;
}

function sayingOf({ events }: Played): string | undefined {
  const said = events.find((event) => event.type === 'debug' && event.message.startsWith('thinking:'));
  return said?.type === 'debug' ? said.message : undefined;
}

function thinkingOf({ thinking, output_config, reasoning, reasoning_effort }: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries({ thinking, output_config, reasoning, reasoning_effort }).filter(([, value]) => value !== undefined),
  ) as JsonObject; // only members of a JSON object
}

export const thinking: Scenario = {
  name: 'thinking',
  about: 'every level and a budget, on both engines: what the event and the receipt say is what the engine got',
  play: (stage) =>
    onRecordingEngines(stage, async (recorded) => {
      const { effective } = await recorded.stage.agents.adapters.detect(stage.agent);
      if (!effective.supportsThinking) return notClaimed('no thinking mode');
      const wishes = WISHES.filter(
        ({ thinkingBudgetTokens }) => thinkingBudgetTokens === undefined || effective.supportsThinkingBudgetTokens,
      );
      for (const engine of ['claude', 'openai'] as const) {
        for (const wish of wishes) {
          const problem = await problemOf(recorded, engine, wish);
          if (problem !== undefined) return no(`${engine}, ${JSON.stringify(wish)}: ${problem}`);
        }
      }
      return yes(`${wishes.length} wishes on 2 engines`);
    }),
};
