import { isJsonObject, type JsonObject, objectIn, parseJsonObject } from '../../base/json.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { countTokens } from '../../ir/token-estimate.ts';
import type { AnswerReader } from '../answers/seen-answer.ts';
import {
  type Answered,
  type Asked,
  estimatedUsage,
  type Meter,
  numberIn,
  onceOnly,
  textIn,
  tokensOfBytes,
  unitUsage,
  withModel,
} from './meter.ts';
import type { Row } from './rows.ts';

const RESPONSES = 'openai-responses';
const CHAT = 'openai-chat';
const MEDIA = 'openai-media';
const SPEECH = 'openai-speech';

/** Paths of OpenAI's API, many of which its imitators have too. */
export const OPENAI_METERS: readonly Meter[] = [
  { method: 'POST', path: /\/responses\/compact$/, dialects: [RESPONSES], reader: RESPONSES, asks: true, complete: toldOrText },
  { method: 'POST', path: /\/embeddings$/, dialects: [CHAT], reader: CHAT, asks: true, complete: embedded },
  // The prompts of before chat, and those with a text behind them (Mistral, DeepSeek).
  { method: 'POST', path: /\/completions$/, dialects: [CHAT], reader: CHAT, asks: true, complete: toldOrText },
  {
    method: 'POST',
    path: /\/images\/(?:generations|edits|variations)$/,
    dialects: [RESPONSES, CHAT],
    reader: MEDIA,
    asks: true,
    complete: drawn,
  },
  {
    method: 'POST',
    path: /\/audio\/(?:transcriptions|translations)$/,
    dialects: [RESPONSES, CHAT],
    reader: MEDIA,
    asks: true,
    complete: (seen, { fields }) => withModel(seen, fields.model),
  },
  { method: 'POST', path: /\/audio\/speech$/, dialects: [RESPONSES, CHAT], reader: SPEECH, asks: true, complete: spoken },
  { method: 'POST', path: /\/videos(?:\/(?:edits|extensions|[^/]+\/remix))?$/, dialects: [RESPONSES], reader: MEDIA },
  { method: 'POST', path: /\/containers$/, dialects: [RESPONSES], reader: MEDIA },
  { method: 'GET', path: /\/files\/[^/]+\/content$/, dialects: [CHAT], retold: true, row: batchRow },
  { method: 'GET', path: /\/responses\/[^/]+$/, dialects: [RESPONSES], reader: RESPONSES, retold: true, complete: onceOnly },
  { method: 'POST', path: /\/responses\/[^/]+\/cancel$/, dialects: [RESPONSES], reader: RESPONSES, retold: true, complete: onceOnly },
];

/** A line of the output of a batch: the answer to one of its requests. Vectors are left out, which are most of it and tell nothing. */
function batchRow({ custom_id: id, response }: JsonObject): Row | undefined {
  const answer = objectIn(response);
  const body = objectIn(answer?.body);
  if (id === undefined || answer === undefined) return undefined;
  if (body === undefined || numberIn(answer.status_code, 0) >= 300) return {};
  const text = JSON.stringify(body.object === 'list' ? { ...body, data: [] } : body);
  return dialectOf(body.object === 'response' ? RESPONSES : CHAT).observeBody(text);
}

/** The model that draws where nobody names one (API description of OpenAI, `CreateImageRequest`). */
const PAINTER = 'dall-e-2';

function drawn(seen: Observed, { fields }: Asked): Observed {
  const units = seen.usage?.details?.units;
  const named = withModel(seen, textIn(fields.model) || PAINTER);
  if (units === undefined) return named;
  const quality = textIn(fields.quality) === 'hd' ? 'hd' : 'standard';
  const kind = `${quality} ${textIn(fields.size) || '1024x1024'}`;
  return { ...named, usage: unitUsage(units.map((one) => ({ ...one, kind }))) };
}

/** Models that speak by the letter; the others are billed by tokens. */
const BY_LETTER = /^tts-/;
/** Tokens of sound for a letter: 1,250 a minute by the price that OpenAI names for one ($0.015 at $12 a million), about 900 letters in it. */
const SOUND_TOKENS = 1250 / 900;

/** Sound tells nothing; its stream of events tells tokens. */
function spoken(seen: Observed, { fields }: Asked): Observed {
  const said = textIn(fields.input);
  const named = withModel(seen, fields.model);
  if (seen.usage !== undefined || seen.error !== undefined || said === '') return named;
  const letters = [...said].length;
  if (BY_LETTER.test(textIn(fields.model))) return { ...named, usage: unitUsage([{ unit: 'characters', amount: letters }]) };
  return { ...named, usage: estimatedUsage(countTokens(said + textIn(fields.instructions)), Math.ceil(letters * SOUND_TOKENS)) };
}

/** Some servers tell no usage of embeddings. */
function embedded(seen: Observed, { fields, bytes }: Asked): Observed {
  const named = withModel(seen, fields.model);
  if (seen.usage !== undefined || seen.error !== undefined) return named;
  const { input } = fields;
  const texts = Array.isArray(input) ? input.map(textIn) : [textIn(input)];
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return { ...named, usage: estimatedUsage(tokens === 0 ? tokensOfBytes(bytes) : tokens) };
}

/** Text of which nobody tells the tokens. */
function toldOrText(seen: Observed, { fields, bytes }: Asked, answered: Answered): Observed {
  const named = withModel(seen, fields.model);
  const streamed = answered.contentType.startsWith('text/event-stream');
  if (seen.usage !== undefined || seen.error !== undefined) return named;
  return { ...named, usage: estimatedUsage(tokensOfBytes(bytes), streamed ? 0 : tokensOfBytes(answered.bytes)) };
}

/** Reads sound that comes as a stream of events; otherwise there is nothing to read. */
export const openaiSpeech: AnswerReader = {
  id: SPEECH,
  plain: true,
  observeStream: () => dialectOf(RESPONSES).observeStream(),
  observeBody: () => ({ toolCalls: [] }),
};

/** Reads pictures, transcripts, videos and containers. */
export const openaiMedia: AnswerReader = {
  id: MEDIA,
  plain: true,
  observeStream: () => dialectOf(RESPONSES).observeStream(),
  observeBody: (body) => {
    const value = parseJsonObject(body);
    if (value === undefined) return { toolCalls: [], usage: unitUsage([{ unit: 'audio_seconds', amount: secondsOf(body) }], true) };
    const told = dialectOf(RESPONSES).observeBody(body);
    if (told.usage !== undefined || told.error !== undefined) return told;
    const usage = unitsIn(value);
    const model = typeof value.model === 'string' ? { model: value.model } : {};
    return usage === undefined ? told : { toolCalls: [], ...model, usage };
  },
};

function dialectOf(id: string): AnswerReader {
  const dialect = findDialect(id);
  if (dialect === undefined) throw new Error(`there is no dialect ${id}`);
  return dialect;
}

function unitsIn(value: JsonObject): Observed['usage'] {
  const { data, object, duration, text, seconds, size } = value;
  const told = objectIn(value.usage);
  if (told?.type === 'duration') return unitUsage([{ unit: 'audio_seconds', amount: Math.round(numberIn(told.seconds, 0)) }]);
  if (typeof duration === 'number') return unitUsage([{ unit: 'audio_seconds', amount: Math.round(duration) }]);
  if (Array.isArray(data) && data.every(isPicture)) return unitUsage([{ unit: 'images', amount: data.length }]);
  // A video that fails later is not billed, which its beginning cannot know.
  if (object === 'video') return unitUsage([{ unit: 'video_seconds', amount: numberIn(seconds, 4), kind: textIn(size) }], true);
  if (object === 'container') return unitUsage([{ unit: 'containers', amount: 1, kind: textIn(value.memory_limit) || '1g' }]);
  return typeof text === 'string' ? unitUsage([{ unit: 'audio_seconds', amount: spokenSeconds(text) }], true) : undefined;
}

function isPicture(one: unknown): boolean {
  return isJsonObject(one as JsonObject) && typeof one === 'object' && one !== null && ('url' in one || 'b64_json' in one);
}

/** The last moment that subtitles name. */
const MOMENT = /-->\s*(?:(\d+):)?(\d+):(\d+)[.,](\d+)/g;

/** A transcript as plain text, or as subtitles, whose last line says when the sound ends. */
function secondsOf(body: string): number {
  const last = [...body.matchAll(MOMENT)].at(-1);
  if (last === undefined) return spokenSeconds(body);
  const [, hours = '0', minutes = '0', seconds = '0'] = last;
  return Math.round(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/** People say about two and a half words in a second. */
const WORDS_PER_SECOND = 2.5;

function spokenSeconds(text: string): number {
  return Math.max(1, Math.ceil(text.trim().split(/\s+/).length / WORDS_PER_SECOND));
}
