import { z } from 'zod';
import { JsonRecord, JsonValue } from '../../../contract/json-value.ts';

/** A content part of any kind, told apart by `type`. */
export const AnyPart = z.looseObject({ type: z.string() });
export type AnyPart = z.infer<typeof AnyPart>;

export const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
export const RefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });
/** Kimi takes the address itself where OpenAI wants an object around it. */
const Address = z.union([z.string(), z.looseObject({ url: z.string(), detail: z.string().nullish() })]);
export const ImagePart = z.looseObject({ type: z.literal('image_url'), image_url: Address });
export const VideoPart = z.looseObject({ type: z.literal('video_url'), video_url: Address });
export const AudioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
});
export const FilePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({ file_data: z.string().nullish(), file_id: z.string().nullish(), filename: z.string().nullish() }),
});

/** How some engines write the arguments of a call that has none. */
export const NO_ARGUMENTS = 'null';

const FunctionCall = z.looseObject({ name: z.string(), arguments: z.string() });

/** Kimi names calls of its own tools apart; some servers leave the type empty. */
const CALL_TYPES = ['function', 'custom', 'builtin_function', ''] as const;

/** A call in a history or a whole answer; `custom` calls carry free text. */
export const ToolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.enum(CALL_TYPES).nullish(),
  function: FunctionCall.nullish(),
  custom: z.looseObject({ name: z.string(), input: z.string() }).nullish(),
});
export type ToolCall = z.infer<typeof ToolCall>;

const Content = z.union([z.string(), z.array(AnyPart)]).nullish();

export const Message = z.looseObject({
  role: z.enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
  content: Content,
  name: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  function_call: FunctionCall.nullish(),
  tool_call_id: z.string().optional(),
});
export type Message = z.infer<typeof Message>;

const FunctionTool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: JsonRecord.nullish(),
  strict: z.boolean().nullish(),
});

export const Tool = z.looseObject({
  type: z.string(),
  function: FunctionTool.optional(),
  custom: z.looseObject({ name: z.string(), description: z.string().nullish(), format: JsonRecord.nullish() }).optional(),
});
export type Tool = z.infer<typeof Tool>;

const NamedTool = z.looseObject({
  type: z.enum(['function', 'custom']).optional(),
  function: z.looseObject({ name: z.string() }).optional(),
  custom: z.looseObject({ name: z.string() }).optional(),
});
export type NamedTool = z.infer<typeof NamedTool>;

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  NamedTool.extend({
    type: z.enum(['function', 'custom', 'allowed_tools']),
    allowed_tools: z.looseObject({ mode: z.enum(['auto', 'required']), tools: z.array(NamedTool) }).optional(),
  }),
]);
export type ToolChoice = z.infer<typeof ToolChoice>;

const JsonSchemaFormat = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  schema: JsonRecord.nullish(),
  strict: z.boolean().nullish(),
});

const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), json_schema: JsonSchemaFormat }),
]);

/** The request that every member of the family takes at `chat/completions`. */
export const Request = z.looseObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  seed: z.int().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: JsonRecord.nullish(),
  n: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  response_format: ResponseFormat.nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  functions: z.array(FunctionTool).nullish(),
  function_call: z.union([z.enum(['none', 'auto']), z.looseObject({ name: z.string() })]).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  verbosity: z.string().nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  service_tier: z.string().nullish(),
});
export type Request = z.infer<typeof Request>;

const count = z.number().nullish();

/** Kimi repeats `cached_tokens` and Copilot `reasoning_tokens` beside the details. */
export const Usage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cached_tokens: count,
  /** DeepSeek's word. */
  prompt_cache_hit_tokens: count,
  reasoning_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count }).nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count, audio_tokens: count }).nullish(),
});
export type Usage = z.infer<typeof Usage>;

const Logprobs = z.looseObject({ content: z.array(JsonRecord).nullish() }).nullish();

const AnswerMessage = z.looseObject({
  content: Content,
  refusal: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  function_call: FunctionCall.nullish(),
  annotations: z.array(JsonRecord).nullish(),
});

/** The stop sequence that matched, as vLLM and SGLang tell it; a number is a token. */
const Matched = z.union([z.string(), z.number()]).nullish();

/** Copilot leaves out `object` and `index`; a filtered choice may have no message. */
const Choice = z.looseObject({
  index: z.int().nullish(),
  stop_reason: Matched,
  matched_stop: Matched,
  message: AnswerMessage.nullish(),
  finish_reason: z.string().nullish(),
  error: JsonValue.optional(),
  logprobs: Logprobs,
});
export type Choice = z.infer<typeof Choice>;

export const Response = z.looseObject({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z.array(Choice),
  usage: Usage.nullish(),
  service_tier: z.string().nullish(),
});

/** A piece of a call in a stream: the first one has the id and the name, later ones only more arguments. */
export const CallDelta = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
  custom: z.object({ name: z.string().nullish(), input: z.string().nullish() }).nullish(),
  extra_content: JsonRecord.nullish(),
});
export type CallDelta = z.infer<typeof CallDelta>;

export const Delta = z.looseObject({
  content: Content,
  refusal: z.string().nullish(),
  tool_calls: z.array(CallDelta).nullish(),
  function_call: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
  annotations: z.array(JsonRecord).nullish(),
});
export type Delta = z.infer<typeof Delta>;

const ChunkChoice = z.object({
  index: z.int().nullish(),
  stop_reason: Matched,
  matched_stop: Matched,
  delta: Delta.nullish(),
  /** Some servers tell a whole answer as the only event. */
  message: Delta.nullish(),
  finish_reason: z.string().nullish(),
  error: JsonValue.optional(),
  logprobs: Logprobs,
  usage: Usage.nullish(),
});
export type ChunkChoice = z.infer<typeof ChunkChoice>;

/** Proxies put errors into the stream in more than one shape, so that only their presence is looked at here. */
export const Chunk = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  choices: z.array(ChunkChoice).nullish(),
  usage: Usage.nullish(),
  /** Groq tells a caller who did not ask for it the usage here. */
  x_groq: z.looseObject({ usage: Usage.nullish() }).nullish(),
  service_tier: z.string().nullish(),
  error: JsonValue.optional(),
});
export type Chunk = z.infer<typeof Chunk>;

const code = z.union([z.string(), z.number()]).nullish();

export const ErrorBody = z.looseObject({
  error: z.union([z.string(), z.looseObject({ message: z.string().nullish(), type: z.string().nullish(), code })]).nullish(),
  message: z.string().nullish(),
  detail: z.string().nullish(),
});
