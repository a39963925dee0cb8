import { z } from 'zod';

/** Values that only their owner reads; the body is parsed JSON already. */
const Opaque = z.looseObject({});
/** The pattern the vendor holds function names to. */
const ToolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, 'must match ^[a-zA-Z0-9_-]{1,128}$');

const AnyPart = z.looseObject({ type: z.string() });
export type AnyPart = z.infer<typeof AnyPart>;

export const TextPart = z.looseObject({ type: z.string(), text: z.string() });
export const RefusalPart = z.looseObject({ type: z.string(), refusal: z.string() });
export const ImagePart = z.looseObject({
  type: z.literal('input_image'),
  image_url: z.string().nullish(),
  file_id: z.string().nullish(),
  detail: z.string().nullish(),
});
export type ImagePart = z.infer<typeof ImagePart>;
export const FilePart = z.looseObject({
  type: z.literal('input_file'),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  file_id: z.string().nullish(),
  filename: z.string().nullish(),
});
export type FilePart = z.infer<typeof FilePart>;

/** An element of `input` or `output`; a message may leave its type out. */
const AnyItem = z.looseObject({ type: z.string().nullish() });
export type AnyItem = z.infer<typeof AnyItem>;

export const Message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(AnyPart)]),
});
export type Message = z.infer<typeof Message>;

export const FunctionCall = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  namespace: z.string().nullish(),
});
export const CustomToolCall = z.looseObject({
  type: z.literal('custom_tool_call'),
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
  namespace: z.string().nullish(),
});
export const CallOutput = z.looseObject({
  type: z.enum(['function_call_output', 'custom_tool_call_output']),
  call_id: z.string(),
  output: z.union([z.string(), z.array(AnyPart)]),
});
export type CallOutput = z.infer<typeof CallOutput>;

const ReasoningText = z.looseObject({ type: z.enum(['summary_text', 'reasoning_text', 'text']).nullish(), text: z.string() });
export const Reasoning = z.looseObject({
  type: z.literal('reasoning'),
  summary: z.array(ReasoningText).nullish(),
  content: z.array(ReasoningText).nullish(),
  encrypted_content: z.string().nullish(),
});
export type Reasoning = z.infer<typeof Reasoning>;

const AnyTool = z.looseObject({ type: z.string() });
export type AnyTool = z.infer<typeof AnyTool>;

export const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: ToolName,
  description: z.string().nullish(),
  parameters: Opaque.nullish(),
  strict: z.boolean().nullish(),
});
export const CustomTool = z.looseObject({
  type: z.literal('custom'),
  name: ToolName,
  description: z.string().nullish(),
  format: Opaque.nullish(),
});
export const NamespaceTool = z.looseObject({
  type: z.literal('namespace'),
  name: z.string().min(1),
  tools: z.array(AnyTool),
});

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({
    type: z.string(),
    name: z.string().optional(),
    mode: z.enum(['auto', 'required']).optional(),
    tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).optional(),
  }),
]);

const Format = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: z.string().optional(),
  description: z.string().nullish(),
  schema: Opaque.optional(),
  strict: z.boolean().nullish(),
});
export type Format = z.infer<typeof Format>;

/** `POST /v1/responses`; `input_tokens` takes the same body. */
export const Request = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(AnyItem)]).optional(),
  instructions: z.string().optional(),
  stream: z.boolean().optional(),
  tools: z.array(AnyTool).optional(),
  tool_choice: ToolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  max_output_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_logprobs: z.int().min(0).max(20).optional(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).optional(),
  text: z.looseObject({ format: Format.nullish(), verbosity: z.string().nullish() }).optional(),
  include: z.array(z.string()).optional(),
  service_tier: z.string().optional(),
  safety_identifier: z.string().optional(),
  user: z.string().optional(),
  store: z.boolean().optional(),
  background: z.boolean().optional(),
  truncation: z.string().optional(),
});
export type Request = z.infer<typeof Request>;

const count = z.number().nullish();

const Usage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z.looseObject({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count }).nullish(),
  output_tokens: count,
  output_tokens_details: z.looseObject({ reasoning_tokens: count, audio_tokens: count }).nullish(),
});

/** Pictures and transcripts have paths and shapes of their own, and tell what they used in the words of responses. */
export const UsageAlone = z.looseObject({
  usage: Usage.extend({
    input_tokens: z.number(),
    input_tokens_details: z
      .looseObject({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count, image_tokens: count })
      .nullish(),
    output_tokens: z.number().nullish(),
    output_tokens_details: z.looseObject({ reasoning_tokens: count, audio_tokens: count, image_tokens: count }).nullish(),
    /** The word of transcripts for the details of what was heard. */
    input_token_details: z.looseObject({ audio_tokens: count }).nullish(),
  }),
});

const ImageUsage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z.looseObject({ image_tokens: count }).nullish(),
  output_tokens: count,
  output_tokens_details: z.looseObject({ image_tokens: count }).nullish(),
});

/** The response object: a whole answer, or the payload of `response.completed` and its kin. */
export const Response = z.looseObject({
  id: z.string(),
  model: z.string().nullish(),
  status: z.string().nullish(),
  background: z.boolean().nullish(),
  output: z.array(AnyItem).nullish(),
  usage: Usage.nullish(),
  service_tier: z.string().nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  error: z.looseObject({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
  tool_usage: z.looseObject({ web_search: z.looseObject({ num_requests: count }).nullish(), image_gen: ImageUsage.nullish() }).nullish(),
});
export type Response = z.infer<typeof Response>;

/** An error body; the ChatGPT backend writes `detail` instead. */
export const ErrorBody = z.looseObject({
  error: z.looseObject({ code: z.string().nullish(), type: z.string().nullish(), message: z.string().nullish() }).nullish(),
  detail: z.string().nullish(),
});
