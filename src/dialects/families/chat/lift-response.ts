import { isJsonObject, type Json, listIn, objectIn } from '../../../base/json.ts';
import { parseAt } from '../../../contract/border.ts';
import { EngineFailure } from '../../../ir/engine-failure.ts';
import type { IrPart, VendorMeta } from '../../../ir/part.ts';
import type { FinishReason, IrError, IrResponse } from '../../../ir/response.ts';
import { type IrUsage, NO_USAGE, usageDetails } from '../../../ir/usage.ts';
import { liftAnnotations } from '../../openai-citations.ts';
import { liftLogprobs } from '../../openai-logprobs.ts';
import { pricedTier } from '../../openai-tier.ts';
import { type Piece, piecesOf } from './answers/content.ts';
import { choiceError, errorOf } from './errors.ts';
import type { ChatFlavour } from './flavour.ts';
import { callPart, isCall, reasoningOf } from './lift-messages.ts';
import { mediaParts } from './media.ts';
import * as wire from './wire.ts';

export const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  error: 'error',
  // DeepSeek and vLLM gave up in the middle of the answer; Mistral's model has no room left.
  insufficient_system_resource: 'error',
  abort: 'error',
  model_length: 'length',
};

/** The parts of an answer that tell how it ended. */
export interface Ending {
  readonly reason: string | undefined;
  readonly calls: boolean;
  readonly refused: boolean;
}

/** A forced call ends with `stop`. */
export function finishOf({ reason, calls, refused }: Ending): FinishReason {
  const finish = FINISH[reason ?? ''] ?? 'stop';
  if (calls && finish === 'stop') return 'tool-calls';
  return refused && finish === 'stop' ? 'refusal' : finish;
}

/** How the answer ended, with the stop sequence that ended it where the engine tells. */
export function endOf(finish: FinishReason, matched: string | undefined): { finish: FinishReason; stopSequence?: string } {
  return finish === 'stop' && matched !== undefined ? { finish: 'stop-sequence', stopSequence: matched } : { finish };
}

export function matchedStop(choice: Pick<wire.ChunkChoice, 'stop_reason' | 'matched_stop'>): string | undefined {
  return [choice.stop_reason, choice.matched_stop].find((value) => typeof value === 'string');
}

/** `completion_tokens` counts reasoning, except at xAI and on Copilot's Gemini models, where only the total shows it. */
export function liftUsage(usage: wire.Usage | null | undefined, serviceTier?: string | null): IrUsage {
  if (!usage) return NO_USAGE;
  const input = usage.prompt_tokens ?? 0;
  const written = usage.completion_tokens ?? 0;
  const beside = usage.reasoning_tokens ?? usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const apart = beside > 0 && usage.total_tokens === input + written + beside;
  return {
    inputTokens: input,
    outputTokens: apart ? written + beside : written,
    cacheReadTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
    thinkingTokens: usage.completion_tokens_details?.reasoning_tokens ?? beside,
    webSearchRequests: 0,
    ...usageDetails({
      audioInputTokens: usage.prompt_tokens_details?.audio_tokens ?? undefined,
      audioOutputTokens: usage.completion_tokens_details?.audio_tokens ?? undefined,
      tier: pricedTier(serviceTier),
    }),
  };
}

/** OpenAI's models that search before each answer, and those of them that are of the preview. */
const SEARCHING = /-search-(?:preview|api)/;
const PREVIEW = /-search-preview/;

/** Sources of a search stand in the annotations; the vendor does not count its searches. */
export function withSearches(usage: IrUsage, annotations: readonly unknown[], model: string | null | undefined): IrUsage {
  const cited = annotations.some((one) => objectIn(one)?.type === 'url_citation');
  if (!cited && !SEARCHING.test(model ?? '')) return usage;
  const preview = PREVIEW.test(model ?? '') ? { details: { ...usage.details, previewSearches: 1 } } : {};
  return { ...usage, webSearchRequests: 1, ...preview };
}

/**
 * The choices that make up the answer. Copilot gives text and calls of one answer as two choices without numbers; numbered ones
 * beyond the first are further answers.
 */
export function isAnswer(choice: { readonly index?: number | null | undefined }): boolean {
  return choice.index === undefined || choice.index === null || choice.index === 0;
}

/** Whether a choice says something. One that a filter held back has no message on Azure, and is an answer all the same. */
export function isSaid({ delta, message, finish_reason: reason }: wire.ChunkChoice): boolean {
  return Boolean(delta ?? message) || reason === 'content_filter';
}

/** No choice has a message: servers of the completions before chat answer so. */
export const UNSAID: IrError = { kind: 'server', message: 'the engine answered without a message', status: 200 };

/** A whole Chat answer. */
export function liftChatResponse(flavour: ChatFlavour, body: Json): IrResponse {
  // Some proxies answer 200 and put the error into the body.
  if (isJsonObject(body) && isJsonObject(body.error) && body.choices === undefined) throw new EngineFailure(errorOf(502, body));
  const response = parseAt(wire.Response, body, 'engine response');
  if (response.choices.length === 0)
    throw new EngineFailure({ kind: 'server', message: 'the engine answered without a choice', status: 200 });
  const failed = choiceError(response.choices);
  if (failed !== undefined) throw new EngineFailure(failed);
  if (!response.choices.some(isSaid)) throw new EngineFailure(UNSAID);
  const id = response.id || undefined;
  const [first = [], ...others] = answersIn(response.choices);
  const alternatives = others.map((choices, at) => ({
    model: response.model ?? '',
    ...liftAnswer(flavour, choices, `${id ?? ''}-${at + 1}`),
  }));
  const annotations = first.flatMap((choice) => choice.message?.annotations ?? []);
  return {
    ...(id === undefined ? {} : { id }),
    model: response.model ?? '',
    ...liftAnswer(flavour, first, id),
    usage: withSearches(liftUsage(response.usage, response.service_tier), annotations, response.model),
    ...(alternatives.length === 0 ? {} : { alternatives }),
  };
}

/** The choices of each answer, the first one's first. */
function answersIn(choices: readonly wire.Choice[]): wire.Choice[][] {
  const further = choices.filter((choice) => !isAnswer(choice)).sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return [choices.filter(isAnswer), ...further.map((choice) => [choice])];
}

function liftAnswer(
  flavour: ChatFlavour,
  choices: readonly wire.Choice[],
  id: string | undefined,
): Pick<IrResponse, 'parts' | 'finish' | 'stopSequence' | 'usage'> {
  const parts = choices.flatMap((choice) => liftChoice(flavour, choice, id));
  const reason = choices.map((choice) => choice.finish_reason).findLast((found) => typeof found === 'string') ?? undefined;
  return {
    parts,
    ...endOf(
      finishOf({
        reason,
        calls: parts.some(({ kind }) => kind === 'tool-call'),
        refused: parts.some((part) => part.kind === 'refusal'),
      }),
      choices.map(matchedStop).find((found) => found !== undefined),
    ),
    usage: NO_USAGE,
  };
}

function liftChoice(flavour: ChatFlavour, choice: wire.Choice, id: string | undefined): IrPart[] {
  const { message } = choice;
  if (!message) return [];
  const { refusal } = message;
  const { thinking, call } = reasoningOf(flavour, message);
  return [
    ...thinking,
    ...said(flavour, choice, message),
    ...mediaParts(flavour, message),
    ...(typeof refusal === 'string' ? [{ kind: 'refusal' as const, text: refusal }] : []),
    ...call,
    ...(message.tool_calls ?? []).filter(isCall).map((call, index) => callPart(call, inventedCallId(id, index), flavour)),
    ...(message.function_call ? [callPart({ function: message.function_call }, inventedCallId(id, 0), flavour)] : []),
  ];
}

/** The content of a message, piece by piece; its sources and the probabilities of its tokens stand in the last text. */
function said(flavour: ChatFlavour, choice: wire.Choice, { content, annotations }: NonNullable<wire.Choice['message']>): IrPart[] {
  const parts = joined(piecesOf(flavour, content));
  const last = parts.findLastIndex(({ kind }) => kind === 'text');
  // Sources need a text to stand in, be it an empty one.
  if (last === -1 && !annotations?.length) return parts;
  const text = parts[last]?.text ?? '';
  const logprobs = liftLogprobs(choice.logprobs?.content);
  const told: IrPart = {
    kind: 'text',
    text,
    ...(logprobs === undefined ? {} : { logprobs }),
    ...liftAnnotations(annotations, text.length),
    ...textMeta(flavour, annotations ?? []),
  };
  return last === -1 ? [...parts, told] : parts.toSpliced(last, 1, told);
}

/** Pieces of one kind in a row are one part. */
function joined(pieces: readonly Piece[]): Piece[] {
  const parts: Piece[] = [];
  for (const piece of pieces) {
    const before = parts.at(-1);
    if (piece.kind === 'vendor' || before?.kind !== piece.kind) parts.push(piece);
    else parts[parts.length - 1] = { kind: piece.kind, text: before.text + piece.text };
  }
  return parts;
}

/** Derived from the answer's id: the same answer read again gets the same ids, and no two answers share them. */
export function inventedCallId(answerId: string | undefined, number: number): string {
  const tail = (answerId ?? '').replaceAll(/[^a-zA-Z0-9]/g, '').slice(-24);
  return tail === '' ? `call_${number}` : `call_${tail}_${number}`;
}

/** Sources of a text stay with the dialect. */
export function textMeta(flavour: ChatFlavour, annotations: readonly unknown[]): { meta?: VendorMeta } {
  return annotations.length === 0 ? {} : { meta: { [flavour.id]: { annotations: listIn(annotations) } } };
}
