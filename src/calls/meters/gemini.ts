import { isJsonObject, type Json, type JsonObject, listIn, objectIn, parseJsonObject } from '../../base/json.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { countTokens } from '../../ir/token-estimate.ts';
import { NO_USAGE, usageDetails } from '../../ir/usage.ts';
import type { AnswerReader } from '../answers/seen-answer.ts';
import { uncounted } from './counted-results.ts';
import { type Asked, estimatedUsage, type Meter, numberIn, onceOnly, textIn, tokensOfBytes, unitUsage, withModel } from './meter.ts';
import { type Row, RowSum } from './rows.ts';

const GEMINI = 'gemini';
const MEDIA = 'gemini-media';
const BATCH = 'gemini-batch';

/** Paths of Google's API. */
export const GEMINI_METERS: readonly Meter[] = [
  { method: 'POST', path: /\/interactions$/, dialects: [GEMINI], reader: GEMINI },
  // Tuned models, and versions of the API that no dialect has.
  { method: 'POST', path: /:(?:generateContent|streamGenerateContent)$/, dialects: [GEMINI], reader: GEMINI, complete: modelOfPath },
  {
    method: 'POST',
    path: /:(?:embedContent|batchEmbedContents|embedText)$/,
    dialects: [GEMINI],
    reader: MEDIA,
    asks: true,
    complete: embedded,
  },
  { method: 'POST', path: /:predict$/, dialects: [GEMINI], reader: MEDIA, complete: modelOfPath },
  { method: 'POST', path: /:predictLongRunning$/, dialects: [GEMINI], reader: MEDIA, asks: true, complete: filmed },
  { method: 'POST', path: /\/cachedContents$/, dialects: [GEMINI], reader: MEDIA },
  { method: 'GET', path: /\/interactions\/[^/]+$/, dialects: [GEMINI], reader: GEMINI, retold: true, complete: onceOnly },
  { method: 'GET', path: /\/batches\/[^/:]+$/, dialects: [GEMINI], reader: BATCH, retold: true, complete: onceByPath },
  { method: 'GET', path: /\/download\/v1(?:alpha|beta)?\/files\/[^/:]+:download$/, dialects: [GEMINI], retold: true, row: batchRow },
];

function modelOfPath(seen: Observed, { path }: Pick<Asked, 'path'>): Observed {
  return withModel(seen, /\/(?:models|tunedModels)\/([^/:]+):/.exec(path)?.[1]);
}

/** Older models tell no tokens of what they embed. */
function embedded(seen: Observed, { path, fields, bytes }: Asked): Observed {
  const named = modelOfPath(seen, { path });
  if (seen.usage !== undefined || seen.error !== undefined) return named;
  const tokens = textTokens(fields);
  return { ...named, usage: estimatedUsage(tokens === 0 ? tokensOfBytes(bytes) : tokens) };
}

/** Tokens of every text of a request. */
function textTokens(value: Json): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one: Json) => sum + textTokens(one), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + (name === 'text' && typeof one === 'string' ? countTokens(one) : textTokens(one)),
    0,
  );
}

/** Seconds of a video where the request does not say (ai.google.dev/gemini-api/docs/video, 2026-11). */
const VIDEO_SECONDS = 8;

/** The answer is an operation; one that fails later is not billed. */
function filmed(seen: Observed, { path, fields }: Asked): Observed {
  const named = modelOfPath(seen, { path });
  if (seen.error !== undefined) return named;
  const { durationSeconds, resolution, sampleCount, numberOfVideos } = objectIn(fields.parameters) ?? {};
  const amount = numberIn(durationSeconds, VIDEO_SECONDS) * numberIn(sampleCount ?? numberOfVideos, 1);
  return { ...named, usage: unitUsage([{ unit: 'video_seconds', amount, kind: textIn(resolution) || '720p' }], true) };
}

/** A batch tells the answers that it holds whenever it is asked, from when it is done. */
function onceByPath(seen: Observed, { path }: Asked): Observed {
  return seen.usage === undefined ? uncounted(seen) : { ...seen, once: { name: path, from: 0, to: 1 } };
}

/** A line of a file of results, or one of the answers that a batch itself holds. */
function batchRow({ response, key, error }: JsonObject): Row | undefined {
  const answer = objectIn(response);
  if (answer === undefined) return key === undefined && error === undefined ? undefined : {};
  const reader = answer.candidates === undefined ? geminiMedia : findDialect(GEMINI);
  return reader?.observeBody(JSON.stringify(answer));
}

/** Reads the answers in a batch that is done. */
export const geminiBatch: AnswerReader = {
  id: BATCH,
  observeStream: () => geminiMedia.observeStream(),
  observeBody: (body) => {
    const { response, metadata } = parseJsonObject(body) ?? {};
    const output = objectIn(response);
    const lists = [output?.inlinedResponses, output?.inlinedEmbedContentResponses].flatMap((one) => [one, objectIn(one)?.inlinedResponses]);
    const sum = new RowSum();
    for (const one of lists.flatMap(listIn)) sum.add(batchRow(objectIn(one) ?? {}) ?? {});
    return withModel({ toolCalls: [], ...sum.done() }, textIn(objectIn(metadata)?.model).replace(/^models\//, ''));
  },
};

/** Reads embeddings, pictures and stored contexts. */
export const geminiMedia: AnswerReader = {
  id: MEDIA,
  observeStream: () => {
    const dialect = findDialect(GEMINI);
    if (dialect === undefined) throw new Error('there is no dialect gemini');
    return dialect.observeStream();
  },
  observeBody: (body) => {
    const value = parseJsonObject(body);
    if (value === undefined) return { toolCalls: [] };
    const error = objectIn(value.error);
    if (error !== undefined) return { toolCalls: [], error: textIn(error.message) || 'engine error' };
    const usage = storedUsage(value) ?? embeddingUsage(value) ?? pictureUsage(value);
    const model = typeof value.model === 'string' ? { model: value.model.replace(/^models\//, '') } : {};
    return { toolCalls: [], ...model, ...(usage === undefined ? {} : { usage }) };
  },
};

/** Tokens that are kept are billed by the hour; the answer names the moment until when. */
function storedUsage({ expireTime, createTime, usageMetadata }: JsonObject): Observed['usage'] {
  const hours = (Date.parse(textIn(expireTime)) - Date.parse(textIn(createTime))) / 3_600_000;
  const tokens = numberIn(objectIn(usageMetadata)?.totalTokenCount, 0);
  if (Number.isNaN(hours)) return undefined;
  return unitUsage([{ unit: 'cache_token_hours', amount: tokens * Math.max(0, hours) }], true);
}

/** In the words of the Gemini API, or of Vertex, which tells each embedding's own. */
function embeddingUsage({ usageMetadata, embeddings, embedding, predictions }: JsonObject): Observed['usage'] {
  const told = objectIn(usageMetadata);
  if (told !== undefined) {
    const details = listIn(told.promptTokenDetails ?? told.promptTokensDetails);
    return {
      ...NO_USAGE,
      inputTokens: numberIn(told.promptTokenCount, 0),
      ...usageDetails({
        audioInputTokens: modality(details, 'AUDIO'),
        imageInputTokens: modality(details, 'IMAGE'),
        videoInputTokens: modality(details, 'VIDEO'),
      }),
    };
  }
  const each = [...listIn(embeddings), ...(embedding === undefined ? [] : [embedding]), ...listIn(predictions)].map(tokenCount);
  const known = each.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : { ...NO_USAGE, inputTokens: known.reduce((sum, count) => sum + count, 0) };
}

function modality(details: readonly Json[], name: string): number {
  return details.reduce((sum: number, one) => sum + (objectIn(one)?.modality === name ? numberIn(objectIn(one)?.tokenCount, 0) : 0), 0);
}

function tokenCount(one: Json): number | undefined {
  const embedding = objectIn(one);
  const statistics = objectIn(embedding?.statistics) ?? objectIn(objectIn(embedding?.embeddings)?.statistics);
  const told = statistics?.tokenCount ?? statistics?.token_count;
  return told === undefined ? undefined : numberIn(told, 0);
}

function pictureUsage({ predictions }: JsonObject): Observed['usage'] {
  const pictures = listIn(predictions).filter(
    (one) => objectIn(one)?.bytesBase64Encoded !== undefined || objectIn(one)?.gcsUri !== undefined,
  );
  return predictions === undefined ? undefined : unitUsage([{ unit: 'images', amount: pictures.length }]);
}
