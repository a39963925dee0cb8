import { type JsonObject, objectIn } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Concept } from '../../ir/concept.ts';
import { lostTo, meansNothing } from '../../ir/ledger.ts';
import type { IrEffort, IrOutputFormat, IrRequest, IrSampling, IrThinking } from '../../ir/request.ts';
import { compact } from '../members.ts';
import type { ProtoFields } from './proto.ts';
import { remarkOrder, toJsonSchema } from './schema.ts';
import type * as wire from './wire.ts';

type Config = ProtoFields<wire.GenerationConfig>;

const KNOWN = [
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseJsonSchema',
  'responseSchema',
  'thinkingConfig',
];

/** Members that only Gemini has. They change what the engine does, so another engine must refuse them. */
const VENDOR_OPTIONS = [
  'speechConfig',
  'imageConfig',
  'responseFormat',
  'enableAffectiveDialog',
  'enableEnhancedCivicAnswers',
  'translationConfig',
  'routingConfig',
  'modelSelectionConfig',
  'audioTimestamp',
];

/** `generationConfig` as the IR has it, and its members that only Gemini takes, as they came. */
export interface LiftedConfig {
  readonly request: Pick<IrRequest, 'stop' | 'sampling'> & Partial<Pick<IrRequest, 'maxTokens' | 'output' | 'thinking' | 'effort'>>;
  readonly own: JsonObject;
}

export function liftConfig(c: Config | undefined): LiftedConfig {
  if (c === undefined) return { request: { stop: [], sampling: {} }, own: {} };
  const maxTokens = c.read('maxOutputTokens', 'max_tokens');
  const { output, own } = liftOutput(c);
  const thinking = c.node('thinkingConfig');
  const modalities = c.peek('responseModalities');
  const textOnly = modalities?.every((modality) => modality.toUpperCase() === 'TEXT');
  c.read('responseModalities', textOnly ? 'structure' : 'vendor_option');
  for (const name of VENDOR_OPTIONS) c.read(name, 'vendor_option');
  c.read('mediaResolution', 'media_resolution');
  return {
    request: {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      stop: c.read('stopSequences', 'stop_sequences') ?? [],
      sampling: liftSampling(c),
      ...(output === undefined ? {} : { output }),
      ...(thinking === undefined ? {} : liftThinking(thinking)),
    },
    own: compact({
      ...c.others(KNOWN),
      ...own,
      // Kept beside its neutral form, so that what nobody changed goes back in the words it came in.
      thinkingConfig: objectIn(thinking?.value),
    }),
  };
}

/** A value that asks for what happens anyway settles the leaf and says nothing more. */
function unlessDefault<K extends keyof wire.GenerationConfig & string>(
  c: Config,
  key: K,
  concept: Concept,
  usual: wire.GenerationConfig[K],
): NonNullable<wire.GenerationConfig[K]> | undefined {
  if (c.peek(key) !== usual) return c.read(key, concept);
  c.readUsual(key, concept);
  return undefined;
}

function liftSampling(c: Config): IrSampling {
  if (c.peek('logprobs') !== undefined && c.peek('responseLogprobs') !== true)
    throw new AbpError('invalid_request', `${c.where('logprobs')}: is only taken when responseLogprobs is true`);
  const sampling: { readonly [K in keyof IrSampling]: IrSampling[K] | undefined } = {
    temperature: c.read('temperature', 'temperature'),
    topP: c.read('topP', 'top_p'),
    topK: c.read('topK', 'top_k'),
    seed: c.read('seed', 'seed'),
    frequencyPenalty: unlessDefault(c, 'frequencyPenalty', 'frequency_penalty', 0),
    presencePenalty: unlessDefault(c, 'presencePenalty', 'presence_penalty', 0),
    count: unlessDefault(c, 'candidateCount', 'count', 1),
    logprobs: unlessDefault(c, 'responseLogprobs', 'logprobs', false),
    topLogprobs: c.read('logprobs', 'logprobs'),
  };
  // Members that are undefined are left out, which is what the type asks for.
  return Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== undefined)) as IrSampling;
}

/** Reads what the answer is to be. Of the two ways to write a schema, the newer one counts. */
function readOutput(c: Config, concept: 'json_schema' | 'vendor_option'): void {
  if (concept === 'json_schema' && c.peek('responseJsonSchema') !== undefined)
    c.ledger.leaveIdle(c.where('responseSchema'), lostTo(c.where('responseJsonSchema')));
  for (const key of ['responseMimeType', 'responseSchema', 'responseJsonSchema'] as const) c.read(key, concept);
}

/** Types of answers that other engines have too; none is text. */
const SHARED_TYPES: readonly string[] = ['', 'application/json', 'text/plain'];

/** Whether the answer is to be one of the texts of a schema, without quotes. */
function isChoice(type: string, schema: JsonObject | undefined): boolean {
  return type === 'text/x.enum' && schema?.type === 'string' && Array.isArray(schema.enum);
}

/** JSON, with or without a schema, or one of several texts. Other types have no form elsewhere and go back as they came. */
function liftOutput(c: Config): { readonly output?: IrOutputFormat; readonly own: JsonObject } {
  const type = c.peek('responseMimeType') ?? '';
  const subset = c.peek('responseSchema');
  const schema = c.peek('responseJsonSchema') ?? (subset === undefined ? undefined : toJsonSchema(subset));
  if (subset !== undefined) remarkOrder(subset, c.where('responseSchema'), c.ledger);
  const bare = isChoice(type, schema);
  if (bare || !SHARED_TYPES.includes(type)) {
    readOutput(c, bare ? 'json_schema' : 'vendor_option');
    const own = compact({ responseMimeType: type, responseSchema: subset, responseJsonSchema: c.peek('responseJsonSchema') });
    return { own, ...(bare ? { output: { kind: 'json-schema', schema: schema ?? {}, bare } } : {}) };
  }
  if (schema !== undefined) {
    readOutput(c, 'json_schema');
    return { output: { kind: 'json-schema', schema }, own: compact({ responseSchema: subset }) };
  }
  c.read('responseMimeType', type === 'application/json' ? 'json_mode' : 'structure');
  return type === 'application/json' ? { output: { kind: 'json' }, own: {} } : { own: {} };
}

const EFFORTS: Readonly<Record<string, IrEffort>> = { MINIMAL: 'minimal', LOW: 'low', MEDIUM: 'medium', HIGH: 'high' };

/** A budget of 0 switches thinking off and -1 leaves it to the model; thoughts are shown only on request. */
export function liftThinking(t: ProtoFields<wire.ThinkingConfig>): { thinking?: IrThinking; effort?: IrEffort } {
  const level = t.peek('thinkingLevel')?.toUpperCase() ?? '';
  const effort = EFFORTS[level];
  t.read('thinkingLevel', effort === undefined ? 'structure' : 'effort');
  const shown = t.peek('includeThoughts') === true;
  t.read('includeThoughts', shown ? 'thinking' : 'structure');
  // -1 leaves it to the model, which is what happens without a word.
  const budget = t.peek('thinkingBudget');
  if (budget === -1) t.readUsual('thinkingBudget', 'thinking');
  else t.read('thinkingBudget', 'thinking');
  if (budget === 0) t.ledger.leaveIdle(t.where('includeThoughts'), meansNothing('without thinking'));
  const thinking = thinkingOf(budget === -1 ? undefined : budget, shown);
  return { ...(thinking === undefined ? {} : { thinking }), ...(effort === undefined ? {} : { effort }) };
}

function thinkingOf(budget: number | undefined, shown: boolean): IrThinking | undefined {
  if (budget === 0) return { mode: 'disabled' };
  if (budget === undefined && !shown) return undefined;
  const display = shown ? 'summarized' : 'omitted';
  return budget === undefined || budget < 0 ? { mode: 'adaptive', display } : { mode: 'enabled', budgetTokens: budget, display };
}
