import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { snakeCase } from './proto.ts';

/** An object whose members are the caller's own: arguments, results, schemas. It is parsed JSON already. */
const Free = z.custom<JsonObject>((value) => isJsonObject(value as Json), 'expected an object');
const text = z.string().nullish();
const number = z.number().nullish();
const flag = z.boolean().nullish();

/** A proto message: every member is optional, may be null, and may be spelled in snake_case. */
function message<S extends Record<string, z.ZodType>>(shape: S): z.ZodObject<S, z.core.$loose> {
  const spelled = Object.entries(shape).flatMap(([key, schema]) => [[key, schema] as const, [snakeCase(key), schema] as const]);
  // The type names one spelling of each member; readers look for both.
  return z.looseObject(Object.fromEntries(spelled)) as unknown as z.ZodObject<S, z.core.$loose>;
}

/** A list; its only element may stand without brackets. */
function repeated<T extends z.ZodType>(element: T): z.ZodOptional<z.ZodNullable<z.ZodUnion<readonly [z.ZodArray<T>, T]>>> {
  return z.union([z.array(element), element]).nullish();
}

const Blob = message({ mimeType: text, data: text });
const FileData = message({ mimeType: text, fileUri: text });
const FunctionCall = message({ id: text, name: text, args: Free.nullish() });

/** The part of a function result that holds a medium. */
const ResultPart = message({ inlineData: Blob.nullish(), fileData: FileData.nullish() });
export type ResultPart = z.infer<typeof ResultPart>;

const FunctionResponse = message({ id: text, name: text, response: Free.nullish(), parts: repeated(ResultPart) });

/** One of its data members says what a part is; one of a kind we do not know is kept whole. */
export const Part = message({
  text,
  thought: flag,
  thoughtSignature: text,
  inlineData: Blob.nullish(),
  fileData: FileData.nullish(),
  functionCall: FunctionCall.nullish(),
  functionResponse: FunctionResponse.nullish(),
});
export type Part = z.infer<typeof Part>;

export const Content = message({ role: text, parts: repeated(Part) });
export type Content = z.infer<typeof Content>;

export const FunctionDeclaration = message({
  name: text,
  description: text,
  parameters: Free.nullish(),
  parametersJsonSchema: Free.nullish(),
});
export type FunctionDeclaration = z.infer<typeof FunctionDeclaration>;

export const Tool = message({ functionDeclarations: repeated(FunctionDeclaration) });
export type Tool = z.infer<typeof Tool>;

const FunctionCallingConfig = message({ mode: text, allowedFunctionNames: z.array(z.string()).nullish() });
const ToolConfig = message({ functionCallingConfig: FunctionCallingConfig.nullish() });

export const ThinkingConfig = message({ includeThoughts: flag, thinkingBudget: z.int().nullish(), thinkingLevel: text });
export type ThinkingConfig = z.infer<typeof ThinkingConfig>;

const GenerationConfig = message({
  temperature: z.number().min(0).max(2).nullish(),
  topP: z.number().min(0).max(1).nullish(),
  topK: number,
  candidateCount: z.int().min(1).nullish(),
  maxOutputTokens: z.int().min(1).nullish(),
  stopSequences: z.array(z.string()).nullish(),
  seed: z.int().nullish(),
  presencePenalty: number,
  frequencyPenalty: number,
  responseLogprobs: flag,
  logprobs: z.int().min(0).nullish(),
  responseMimeType: text,
  responseSchema: Free.nullish(),
  responseJsonSchema: Free.nullish(),
  responseModalities: z.array(z.string()).nullish(),
  thinkingConfig: ThinkingConfig.nullish(),
});
export type GenerationConfig = z.infer<typeof GenerationConfig>;

const members = {
  model: text,
  contents: repeated(Content),
  systemInstruction: Content.nullish(),
  tools: repeated(Tool),
  toolConfig: ToolConfig.nullish(),
  generationConfig: GenerationConfig.nullish(),
  serviceTier: text,
};
const GenerateContentRequest = message(members);
export type GenerateContentRequest = z.infer<typeof GenerateContentRequest>;

/** `:generateContent`, `:streamGenerateContent` and `:countTokens`, which may hold the whole request in a member. */
export const Request = message({ ...members, generateContentRequest: GenerateContentRequest.nullish() });

const Detail = z.looseObject({
  '@type': z.string().optional(),
  reason: z.string().optional(),
  retryDelay: z.string().optional(),
  violations: z.array(z.looseObject({ quotaId: z.string().optional() })).optional(),
});

export const ErrorBody = z.looseObject({
  error: z.looseObject({
    code: z.union([z.number(), z.string()]).optional(),
    message: z.string().optional(),
    status: z.string().optional(),
    details: z.array(Detail).optional().catch(undefined),
  }),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
