import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import { Fold } from '../../ir/fold.ts';
import { meansNothing } from '../../ir/ledger.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { IrResponse } from '../../ir/response.ts';
import type { LiftContext } from '../dialect.ts';
import { compact, vendorMeta } from '../members.ts';
import { AnswerReader } from './answers/read-answer.ts';
import { liftConfig } from './lift-config.ts';
import { ContentReader, liftText } from './lift-content.ts';
import { liftTools } from './lift-tools.ts';
import { ProtoFields } from './proto.ts';
import * as wire from './wire.ts';

type Request = ProtoFields<wire.GenerateContentRequest>;

const KNOWN = [
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'serviceTier',
  'generateContentRequest',
];

/** Members that only Gemini has, and what they mean. */
const OWN: Readonly<Record<string, Concept>> = {
  cachedContent: 'cached_content',
  store: 'storage',
  continuationToken: 'stored_state',
  labels: 'metadata',
  modelArmorConfig: 'vendor_option',
  outputConfig: 'vendor_option',
};

/** Reads a generateContent body; model and streaming come from the address. `countTokens` may wrap the whole request in a member. */
export function liftRequest(body: Json, context: LiftContext): IrRequest {
  const root = new ProtoFields(parseAt(wire.Request, body, 'request body'), '', context.ledger);
  const f: Request = root.node('generateContentRequest') ?? root;
  const named = f.read('model', 'model')?.replace(/^models\//, '');
  const model = context.model ?? named;
  if (model === undefined) throw new AbpError('invalid_request', 'request body is not valid: model: is required');
  const contents = f.nodes('contents');
  if (contents.length === 0) throw new AbpError('invalid_request', `request body is not valid: ${f.where('contents')}: is required`);
  const messages = [...liftSystem(f), ...new ContentReader().messages(contents)];
  const { tools, toolChoice, own: toolConfig } = liftTools(f);
  const config = liftConfig(f.node('generationConfig'));
  const serviceTier = f.read('serviceTier', 'service_tier')?.toLowerCase();
  return {
    model,
    stream: context.stream ?? false,
    messages,
    tools,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...config.request,
    ...(serviceTier === undefined ? {} : { serviceTier }),
    vendor: liftVendor(f, { toolConfig, generationConfig: config.own }),
  };
}

function liftVendor(f: Request, own: { readonly toolConfig: JsonObject; readonly generationConfig: JsonObject }): IrRequest['vendor'] {
  f.read('safetySettings', onlyTurnsFiltersOff(f.peek('safetySettings')) ? 'safety_filters_off' : 'safety_settings');
  for (const [key, concept] of Object.entries(OWN)) f.read(key, concept);
  const members = compact({
    ...f.others(KNOWN),
    toolConfig: orNothing(own.toolConfig),
    generationConfig: orNothing(own.generationConfig),
  });
  return Object.keys(members).length === 0 ? {} : { gemini: members };
}

/** Thresholds that let everything through. Other engines have no such filter, so nothing is lost without them. */
const FILTERS_OFF: readonly unknown[] = ['OFF', 'BLOCK_NONE'];

function onlyTurnsFiltersOff(settings: unknown): boolean {
  return Array.isArray(settings) && settings.every((one: Json) => isJsonObject(one) && FILTERS_OFF.includes(one.threshold));
}

function orNothing(members: JsonObject): JsonObject | undefined {
  return Object.keys(members).length === 0 ? undefined : members;
}

/** The role of a system instruction plays no part; SDKs fill in whatever they like. */
function liftSystem(f: Request): IrMessage[] {
  const system = f.node('systemInstruction');
  if (system === undefined) return [];
  system.read('role', 'item_identity');
  const parts = system.nodes('parts').map((part) => liftText(part, 'system'));
  if (parts.length === 0) system.ledger.leaveIdle(system.where('role'), meansNothing('without words'));
  return parts.length === 0 ? [] : [{ role: 'system', at: system.path, parts, ...vendorMeta('gemini', system.others(['parts'])) }];
}

/** A whole answer: the same reading as a stream of one chunk. */
export function liftResponse(body: Json): IrResponse {
  const reader = new AnswerReader();
  const fold = new Fold();
  for (const event of [...reader.read(body), ...reader.end(true)]) fold.push(event);
  const response = fold.response();
  if (response === undefined)
    throw new EngineFailure(fold.error ?? { kind: 'server', message: 'Gemini answered without a candidate', status: 200 });
  return response;
}
