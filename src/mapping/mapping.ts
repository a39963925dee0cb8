import type { Json, JsonObject } from '../base/json.ts';
import { type Capability, isCapability } from '../contract/capability.ts';
import { AbpError, type MappingParties, unsupportedFeature } from '../contract/errors.ts';
import type { EmulationEntry, FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/parts.ts';
import type { TrafficRow } from '../contract/runs/run-traffic.ts';
import type { CapabilityManifest, CapabilityRequirements, Compatibility } from '../contract/support.ts';
import type { Dialect, FateNote, LowerContext, LoweredRequest } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import { conceptRow } from '../ir/concept.ts';
import { Ledger, type Remark } from '../ir/ledger.ts';
import type { IrRequest } from '../ir/request.ts';
import { countRequest } from '../ir/token-estimate.ts';
import { assertMet } from '../negotiation/negotiate.ts';
import { negotiationAccount } from '../negotiation/report.ts';
import type { AnswerChange } from './answer-filter.ts';
import { answersIn, covers, type Fidelity, fidelity, type Loss, type RefusedLeaf } from './fidelity.ts';
import { capabilityOf, emulationsOf } from './labels.ts';
import { type ModelFacts, modelFacts } from './model.ts';
import { impliedRequirements, requiredCapabilities } from './required.ts';
import { overrideThinking, type ThinkingOverride } from './thinking-override.ts';
import { idsIn } from './tools/tool-ids.ts';
import type { Renames } from './tools/tool-names.ts';
import { type ToolRules, withoutDenied } from './tools/tool-rules.ts';
import { type HabitInput, withoutHabits, withReasons } from './traffic.ts';
import { write } from './writing.ts';

/** A request of one dialect and the engine it should run on. */
export interface MappingInput {
  readonly body: Json;
  readonly source: Dialect;
  /** Model and streaming, for dialects that put them into the address. */
  readonly address: { readonly model?: string; readonly stream?: boolean };
  readonly engine: Engine;
  readonly target: Dialect;
  /** The model name the engine gets. */
  readonly model: string;
  /** Counting needs the same translation, for another endpoint. */
  readonly operation?: 'generate' | 'count-tokens';
  readonly compatibility: Compatibility;
  readonly emulate: ReadonlySet<Capability>;
  readonly requirements: CapabilityRequirements;
  /** The caller's values of the source dialect's `featureHeaders`. */
  readonly features?: Readonly<Record<string, string>>;
  /** Whether leaves that nobody knows are refused or only reported. */
  readonly unknownLeaves: 'refuse' | 'report';
  /** Thinking that the run decided, instead of what the request says. */
  readonly thinking?: ThinkingOverride | undefined;
  /** Rules about tools: denied ones are taken out of the offer. */
  readonly toolRules?: readonly ToolRules[] | undefined;
  /** Rows about the requests of the coding agent that makes the call. */
  readonly traffic?: readonly TrafficRow[] | undefined;
}

/** The account of a translation, and the request to send if nothing stands in the way. */
export interface Mapping {
  readonly negotiation: ReceiptNegotiation | null;
  readonly emulations: readonly EmulationEntry[];
  readonly fidelity: readonly FidelityEntry[];
  /** The caller's request in neutral words, once it could be read. */
  readonly asked?: IrRequest;
  readonly upstream?: LoweredRequest;
  /** Changes to the answer on its way back. */
  readonly changes: readonly AnswerChange[];
  /** Why nothing may be sent. */
  readonly error?: AbpError;
}

/** Translates a request without calling anyone. Every reason not to send it is a value, so that `explain` can show it. */
export function map(input: MappingInput): Mapping {
  const ledger = new Ledger();
  let known: Mapping = { negotiation: null, emulations: [], fidelity: [], changes: [] };
  try {
    const lifted = input.source.liftRequest(input.body, { ledger, ...input.address });
    claimCarried(lifted.messages, input, ledger);
    const facts = factsOf(input);
    const decided = overrideThinking(lifted, input.thinking ?? {}, { dialect: input.target, lower: facts.lower });
    const offered = withoutDenied(decided.request, input.toolRules ?? []);
    const asked = { ...offered.request, model: input.model };
    known = { ...known, asked, negotiation: negotiationOf(input, asked, facts.manifest) };
    assertMet({
      manifest: facts.manifest,
      requirements: input.requirements,
      compatibility: input.compatibility,
      backend: input.engine.name,
    });
    const { lower } = facts;
    const same = input.source.id === input.target.id;
    const kept = same ? { request: asked, notes: [] } : withoutHabits(habitsOf(input, asked, ledger, lower));
    const parties = partiesOf(input);
    const { lowered, emulations, changes, renames, notes: writing } = write({ ...input, request: kept.request, facts, parties, same });
    const counted = input.operation === 'count-tokens' ? (input.target.lowerCount?.(lowered) ?? lowered) : lowered;
    const upstream = same ? { ...counted, headers: { ...counted.headers, ...input.features } } : counted;
    const notes = [
      ...modelNote(input, lifted.model),
      ...decided.notes,
      ...offered.notes,
      ...kept.notes,
      ...(same ? [] : [...ledger.remarks.map(remarkNote), ...featureNotes(input)]),
      ...writing,
      ...upstream.notes,
      ...countNote(input),
    ];
    const account = fidelity({
      ...input,
      ledger,
      lacks: lower.lacks,
      engineName: input.engine.name,
      notes,
      ...(same ? { sent: upstream.body } : {}),
      answers: answersIn(lifted.messages),
    });
    known = {
      ...known,
      emulations: emulationsOf(emulations, notes, asked),
      fidelity: withReasons(account.entries, input.traffic ?? [], input.target),
    };
    assertFaithful(input, account, asked);
    return { ...known, upstream, changes: changesOf(input.source, asked, renames, changes) };
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    const account = known.fidelity.length > 0 ? known.fidelity : refusedFidelity(input, ledger, known.asked, error);
    return { ...known, ...strictVerdict(input, known.asked, error), fidelity: account, error: located(error, account) };
  }
}

/** State that an engine wrote and its caller brings back arrives there, though no other engine can read it. */
function claimCarried(messages: IrRequest['messages'], { source, target }: MappingInput, ledger: Ledger): void {
  if (source.id === target.id) return;
  const owned = messages.flatMap(({ at, parts }) =>
    at !== undefined && parts.some(({ meta }) => meta?.[target.id] !== undefined) ? [at] : [],
  );
  if (owned.length === 0) return;
  for (const [path, concept] of ledger.claims)
    if (concept === 'reasoning_state' && owned.some((at) => covers(at, path))) ledger.claim(path, 'carried_state');
}

/** Puts what strict refused among the unmet requirements of the negotiation, at the level that the error names. */
function strictVerdict(input: MappingInput, asked: IrRequest | undefined, error: AbpError): Pick<Mapping, 'negotiation'> | undefined {
  const { capability, support_level: level } = error.details;
  if (error.code !== 'E006' || input.compatibility !== 'strict' || asked === undefined) return undefined;
  if (typeof capability !== 'string' || !isCapability(capability) || (level !== 'emulated' && level !== 'unsupported')) return undefined;
  const { manifest } = factsOf(input);
  return { negotiation: negotiationOf(input, asked, { ...manifest, [capability]: level }, capability) };
}

function remarkNote(remark: Remark): FateNote {
  return { fate: 'emulated', ...remark };
}

/** The changes that the answer goes through, in the opposite order of those of the request. */
function changesOf(source: Dialect, asked: IrRequest, renames: Renames, emulated: readonly AnswerChange[]): AnswerChange[] {
  const rule = source.rules.toolCallId;
  return [
    { kind: 'input-estimate', tokens: countRequest(asked) },
    ...(asked.output === undefined ? [] : [{ kind: 'json-answer' } as const]),
    ...(renames.size === 0 ? [] : [{ kind: 'tool-names', renames } as const]),
    ...emulated,
    ...(rule === undefined ? [] : [{ kind: 'tool-ids', rule, taken: idsIn(asked.messages) } as const]),
  ];
}

/** The refusal with the place of the field that caused it, where the account knows one. */
function located(error: AbpError, account: readonly FidelityEntry[]): AbpError {
  const place = account.find(({ fate, code }) => fate === 'refused' && code === 'refused_capability')?.path;
  return place === undefined || error.details.path !== undefined
    ? error
    : new AbpError(error.code, error.message, { ...error.details, path: place });
}

/** A request refused before it was lowered still gets its account: the field in the way, and what the others would meet. */
function refusedFidelity(input: MappingInput, ledger: Ledger, asked: IrRequest | undefined, error: AbpError): readonly FidelityEntry[] {
  if (asked === undefined) return [];
  const feature = error.details.feature ?? error.details.capability;
  const notes = requiredCapabilities(asked)
    .filter(({ capability }) => capability === feature)
    .map(
      ({ concept, at }): FateNote => ({
        concept,
        fate: 'refused',
        code: 'refused_capability',
        note: error.message,
        ...(at === undefined ? {} : { at }),
      }),
    );
  const { lacks } = factsOf(input).lower;
  const { entries } = fidelity({ ...input, ledger, lacks, engineName: input.engine.name, notes, answers: answersIn(asked.messages) });
  return withReasons(entries, input.traffic ?? [], input.target);
}

function habitsOf({ target, traffic = [] }: MappingInput, request: IrRequest, ledger: Ledger, lower: LowerContext): HabitInput {
  return { request, claims: ledger.claims, target, lower, rows: traffic };
}

function modelNote(input: MappingInput, asked: string): FateNote[] {
  return asked === input.model ? [] : [{ concept: 'model', fate: 'renamed', code: 'model_renamed', note: `sent as ${input.model}` }];
}

/** An engine without an endpoint for counting is not asked; what the caller gets is labelled, and strict refuses it. */
function countNote({ operation, target, engine }: MappingInput): FateNote[] {
  if (operation !== 'count-tokens' || target.lowerCount !== undefined) return [];
  return [
    {
      concept: 'token_count',
      fate: 'emulated',
      code: 'count_estimated',
      note: `estimated by the gateway: ${engine.name} counts no tokens`,
      at: '(token count)',
    },
  ];
}

/**
 * Notes about switches in headers. The fields that a switch turns on stand in the body and are judged there; the switch itself means
 * nothing to other engines.
 */
function featureNotes({ features = {}, engine }: MappingInput): FateNote[] {
  return Object.entries(features).map(([name, value]) => ({
    concept: 'feature_switch',
    fate: 'dropped',
    code: 'feature_switch',
    note: `${value} has no form on ${engine.name}`,
    at: `header ${name}`,
  }));
}

function factsOf({ engine, model, source, target }: MappingInput): ModelFacts {
  return modelFacts(engine, model, source.id === target.id ? undefined : target.id);
}

function partiesOf(input: MappingInput): MappingParties {
  return {
    dialectId: input.source.id,
    dialectStyle: input.source.style,
    engineId: input.engine.id,
    engineName: input.engine.name,
  };
}

/** The caller's explicit requirements and the capabilities its request uses. */
function negotiationOf(
  input: MappingInput,
  request: IrRequest,
  manifest: CapabilityManifest,
  refused?: Capability,
): ReceiptNegotiation | null {
  const explicit = new Set(input.requirements.required.map(({ capability }) => capability));
  const used = impliedRequirements(request, input.compatibility);
  const missed = refused === undefined || used.some(({ capability }) => capability === refused) ? [] : [refused];
  const implied = [...used, ...missed.map((capability) => ({ capability, min_support: 'native' }) as const)].filter(
    ({ capability }) => !explicit.has(capability),
  );
  const requirements = { required: [...input.requirements.required, ...implied] };
  if (requirements.required.length === 0) return null;
  const raised: CapabilityManifest = {
    ...manifest,
    ...Object.fromEntries([...input.emulate].filter((name) => weak(manifest, name)).map((name) => [name, 'emulated'])),
  };
  return negotiationAccount(raised, requirements, input.compatibility);
}

function weak(manifest: CapabilityManifest, capability: Capability): boolean {
  return (manifest[capability] ?? 'unsupported') === 'unsupported';
}

/** Nothing may be lost that matters, and in strict nothing may be lost or approximated at all. */
function assertFaithful(input: MappingInput, account: Fidelity, asked: IrRequest): void {
  const [refused] = account.refused.filter((leaf) => leaf.concept !== undefined || input.unknownLeaves === 'refuse');
  if (refused !== undefined)
    throw input.compatibility === 'strict' ? strictLoss(input, { ...refused, fate: 'refused' }, asked) : refusal(input, refused, asked);
  if (input.compatibility !== 'strict') return;
  const [loss] = account.losses;
  if (loss !== undefined) throw strictLoss(input, loss, asked);
}

/** R7: a strict violation is E006, whether the engine lacks a capability or a field would not arrive as it is. */
function strictLoss(input: MappingInput, { path, fate, note, concept, code }: Loss, asked: IrRequest): AbpError {
  const capability = concept === undefined ? undefined : capabilityOf({ concept, at: path }, asked);
  return new AbpError('E006', `${path} would be ${fate} on ${input.engine.name}, and strict allows no loss: ${note ?? ''}`, {
    capability: capability ?? concept ?? path,
    support_level: fate === 'emulated' ? 'emulated' : 'unsupported',
    min_support: 'native',
    backend: input.engine.name,
    cause: fate === 'emulated' ? 'REQUIRES_NATIVE' : 'CAPABILITY_UNSUPPORTED',
    path,
    ...(code === undefined ? {} : { fate_code: code }),
    ...detailsOf(input),
  });
}

function refusal(input: MappingInput, leaf: RefusedLeaf, asked: IrRequest): AbpError {
  if (leaf.concept === 'hosted_tool' || leaf.concept === 'custom_tool') {
    const tool = asked.tools.find(({ at }) => at !== undefined && covers(at, leaf.path));
    return new AbpError('E002', `${leaf.note} (${tool?.at ?? leaf.path})`, {
      tool_name: tool?.name ?? leaf.path,
      path: tool?.at ?? leaf.path,
      available_alternatives: ['a function tool that you run yourself'],
      ...detailsOf(input),
    });
  }
  if (leaf.concept === undefined) return new AbpError('E001', leaf.note, { feature: leaf.path, path: leaf.path, ...detailsOf(input) });
  const error = unsupportedFeature(leaf.concept, conceptRow(leaf.concept).title, partiesOf(input));
  return new AbpError('E001', error.message, { ...error.details, path: leaf.path, reason: leaf.note });
}

function detailsOf(input: MappingInput): JsonObject {
  return { dialect: input.source.style, dialect_id: input.source.id, engine: input.engine.id };
}
