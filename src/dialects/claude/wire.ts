import { z } from 'zod';
import { JsonRecord, JsonValue } from '../../contract/json-value.ts';

const Metadata = z.looseObject({ user_id: z.string().nullish() });

/** `{type:"base64"|"url"|"file"|"text"|"content", …}` */
const Source = z.looseObject({
  type: z.string(),
  media_type: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional(),
  file_id: z.string().optional(),
  content: JsonValue.optional(),
});
export type Source = z.infer<typeof Source>;

const CacheControl = z.looseObject({ type: z.string() }).nullish();

export const TextBlock = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: CacheControl,
  citations: JsonValue.optional(),
});
export const ImageBlock = z.looseObject({ type: z.literal('image'), source: Source, cache_control: CacheControl });
export const DocumentBlock = z.looseObject({
  type: z.literal('document'),
  source: Source,
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.looseObject({ enabled: z.boolean().optional() }).nullish(),
  cache_control: CacheControl,
});
export const ThinkingBlock = z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().optional() });
export const RedactedThinkingBlock = z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() });
export const ToolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: JsonRecord,
  cache_control: CacheControl,
});
export const ToolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  is_error: z.boolean().nullish(),
  cache_control: CacheControl,
});
/** Of any type: hosted tool calls, their results, search results and whatever comes next are kept whole. */
const AnyBlock = z.looseObject({ type: z.string() });
export type AnyBlock = z.infer<typeof AnyBlock>;

export const Message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(AnyBlock)]),
});
export type Message = z.infer<typeof Message>;

export const Tool = z.looseObject({
  type: z.string().nullish(),
  /** Absent on an MCP toolset, which is named by its server. */
  name: z.string().optional(),
  description: z.string().optional(),
  input_schema: JsonRecord.optional(),
  strict: z.boolean().nullish(),
  cache_control: CacheControl,
});
export type Tool = z.infer<typeof Tool>;

const ToolChoice = z.looseObject({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: z.string().optional(),
  disable_parallel_tool_use: z.boolean().optional(),
});

const Thinking = z.looseObject({
  type: z.enum(['enabled', 'adaptive', 'disabled', 'between_tools']),
  budget_tokens: z.int().min(1024).optional(),
  display: z.string().nullish(),
});

const Format = z.looseObject({ type: z.literal('json_schema'), schema: JsonRecord });

const OutputConfig = z.looseObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: Format.nullish(),
});

/** `POST /v1/messages`; `count_tokens` takes the same body without `max_tokens`. */
export const Request = z.looseObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  max_tokens: z.int().min(1).optional(),
  system: z.union([z.string(), z.array(AnyBlock)]).optional(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string()).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  tools: z.array(Tool).optional(),
  tool_choice: ToolChoice.optional(),
  thinking: Thinking.optional(),
  output_config: OutputConfig.optional(),
  output_format: Format.nullish(),
  metadata: Metadata.nullish(),
  service_tier: z.string().optional(),
  cache_control: CacheControl,
  context_management: JsonValue.optional(),
  thread: z.looseObject({ type: z.string().optional() }).optional(),
});
export type Request = z.infer<typeof Request>;

const count = z.number().nullish();

export const Usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish(),
  server_tool_use: z.looseObject({ web_search_requests: count }).nullish(),
  cache_creation: z.looseObject({ ephemeral_1h_input_tokens: count }).nullish(),
  service_tier: z.string().nullish(),
  speed: z.string().nullish(),
  inference_geo: z.string().nullish(),
});
export type Usage = z.infer<typeof Usage>;

export const Response = z.looseObject({
  id: z.string(),
  model: z.string(),
  content: z.array(AnyBlock),
  stop_reason: z.string().nullish(),
  stop_sequence: z.string().nullish(),
  usage: Usage.nullish(),
});

export const ErrorBody = z.looseObject({ error: z.looseObject({ type: z.string().optional(), message: z.string().optional() }) });

/** Events of the stream, told apart by `type`; an unknown one is skipped. */
export const StreamEvent = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message_start'),
    message: z.looseObject({ id: z.string(), model: z.string(), usage: Usage.nullish() }),
  }),
  z.looseObject({ type: z.literal('content_block_start'), index: z.int(), content_block: AnyBlock }),
  z.looseObject({ type: z.literal('content_block_delta'), index: z.int(), delta: z.looseObject({ type: z.string() }) }),
  z.looseObject({ type: z.literal('content_block_stop'), index: z.int() }),
  z.looseObject({
    type: z.literal('message_delta'),
    delta: z.looseObject({ stop_reason: z.string().nullish(), stop_sequence: z.string().nullish() }),
    usage: Usage.nullish(),
  }),
  z.looseObject({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('ping') }),
  z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string().optional(), message: z.string().optional() }) }),
]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** Types of events that say something of the answer. */
export const EVENTS: ReadonlySet<string> = new Set(StreamEvent.options.map(({ shape }) => shape.type.value));
