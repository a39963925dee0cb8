import { type JsonObject, listIn, objectIn, parseJsonObject } from '../../base/json.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { addUsage, type IrUsage, NO_USAGE, type SideUsage, usageDetails } from '../../ir/usage.ts';
import { numberIn, textIn } from './meter.ts';

/** What a message of a session tells. */
interface Heard {
  readonly model?: string | undefined;
  readonly usage?: IrUsage | undefined;
  /** The model that turns the caller's speech into text. */
  readonly transcriber?: string | undefined;
}

/** A kind of WebSocket that costs something. */
interface SessionKind {
  readonly path: RegExp;
  readonly dialects: readonly string[];
  /** Bytes that a message of the engine has that tells something. */
  readonly telling: readonly string[];
  readonly hear: (message: JsonObject, transcriber: string | undefined) => Heard;
  /** The caller names the model in its first message. */
  readonly asked?: (message: JsonObject) => string | undefined;
}

const KINDS: readonly SessionKind[] = [
  {
    path: /\/realtime$/,
    dialects: ['openai-responses'],
    telling: ['"session.', '"usage"'],
    hear: heardRealtime,
  },
  {
    path: /\.GenerativeService\.BidiGenerateContent(?:Constrained)?$/,
    dialects: ['gemini'],
    telling: ['"usageMetadata"'],
    hear: ({ usageMetadata }) => ({ usage: liveUsage(objectIn(usageMetadata)) }),
    asked: ({ setup }) => textIn(objectIn(setup)?.model).replace(/^models\//, '') || undefined,
  },
];

/** What a session of an engine at a path tells; undefined where nothing is known of such. */
export function sessionUse(path: string, query: string, dialects: readonly string[]): SessionUse | undefined {
  const kind = KINDS.find((one) => one.path.test(path) && one.dialects.some((id) => dialects.includes(id)));
  return kind === undefined ? undefined : new SessionUse(kind, new URLSearchParams(query).get('model') ?? undefined);
}

/** Adds up what the messages of a session tell. */
export class SessionUse {
  readonly #kind: SessionKind;
  #model: string | undefined;
  #transcriber: string | undefined;
  #usage: IrUsage | undefined;

  constructor(kind: SessionKind, model: string | undefined) {
    this.#kind = kind;
    this.#model = model;
  }

  hear(message: Buffer): void {
    if (!this.#kind.telling.some((word) => message.includes(word))) return;
    const value = parseJsonObject(message.toString('utf8'));
    const { model, usage, transcriber } = value === undefined ? {} : this.#kind.hear(value, this.#transcriber);
    this.#model = model ?? this.#model;
    this.#transcriber = transcriber ?? this.#transcriber;
    if (usage !== undefined) this.#usage = this.#usage === undefined ? usage : addUsage(this.#usage, usage);
  }

  /** Whether the caller's messages are still to be heard. */
  get listens(): boolean {
    return this.#kind.asked !== undefined && this.#model === undefined;
  }

  hearCaller(message: Buffer): void {
    const value = this.listens ? parseJsonObject(message.toString('utf8')) : undefined;
    if (value !== undefined) this.#model = this.#kind.asked?.(value);
  }

  done(): Observed {
    const named = this.#model === undefined ? {} : { model: this.#model };
    return { toolCalls: [], ...named, ...(this.#usage === undefined ? {} : { usage: this.#usage }) };
  }
}

/** OpenAI's Realtime API: every response tells what it used, and so does every transcript of the caller's speech. */
function heardRealtime({ type, session, response, usage }: JsonObject, transcriber: string | undefined): Heard {
  if (type === 'session.created' || type === 'session.updated') {
    const told = objectIn(session);
    const heard = objectIn(told?.input_audio_transcription) ?? objectIn(objectIn(objectIn(told?.audio)?.input)?.transcription);
    return { model: textIn(told?.model) || undefined, transcriber: textIn(heard?.model) || undefined };
  }
  if (type === 'response.done') return { usage: spokenUsage(objectIn(objectIn(response)?.usage)) };
  const transcribed = objectIn(usage);
  if (type !== 'conversation.item.input_audio_transcription.completed' || transcribed === undefined) return {};
  return { usage: { ...NO_USAGE, details: { beside: [transcriptUse(transcribed, transcriber ?? 'whisper-1')] } } };
}

function spokenUsage(told: JsonObject | undefined): IrUsage | undefined {
  if (told === undefined) return undefined;
  const read = objectIn(told.input_token_details);
  return {
    ...NO_USAGE,
    inputTokens: numberIn(told.input_tokens, 0),
    outputTokens: numberIn(told.output_tokens, 0),
    cacheReadTokens: numberIn(read?.cached_tokens, 0),
    ...usageDetails({
      audioInputTokens: numberIn(read?.audio_tokens, 0),
      audioCacheReadTokens: numberIn(objectIn(read?.cached_tokens_details)?.audio_tokens, 0),
      audioOutputTokens: numberIn(objectIn(told.output_token_details)?.audio_tokens, 0),
      imageInputTokens: numberIn(read?.image_tokens, 0),
    }),
  };
}

function transcriptUse(told: JsonObject, model: string): SideUsage {
  if (told.type === 'duration')
    return { model, inputTokens: 0, outputTokens: 0, units: [{ unit: 'audio_seconds', amount: numberIn(told.seconds, 0) }] };
  const audioInputTokens = numberIn(objectIn(told.input_token_details)?.audio_tokens, 0);
  const tokens = { inputTokens: numberIn(told.input_tokens, 0), outputTokens: numberIn(told.output_tokens, 0) };
  return { model, ...tokens, ...(audioInputTokens === 0 ? {} : { audioInputTokens }) };
}

/** Google's Live API has words of its own for what was answered. */
function liveUsage(told: JsonObject | undefined): IrUsage | undefined {
  if (told === undefined) return undefined;
  const { responseTokenCount, responseTokensDetails, ...rest } = told;
  const usageMetadata = { ...rest, candidatesTokenCount: responseTokenCount ?? 0, candidatesTokensDetails: responseTokensDetails ?? [] };
  const usage = findDialect('gemini')?.observeBody(JSON.stringify({ usageMetadata })).usage;
  const seen = (name: string): number =>
    listIn(told.promptTokensDetails).reduce((sum: number, one) => {
      const part = objectIn(one);
      return sum + (part?.modality === name ? numberIn(part.tokenCount, 0) : 0);
    }, 0);
  const media = usageDetails({ ...usage?.details, imageInputTokens: seen('IMAGE'), videoInputTokens: seen('VIDEO') });
  return usage === undefined ? undefined : { ...usage, ...media };
}
