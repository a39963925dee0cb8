import { z } from 'zod';

/** One row of the capability table. The order is the contract's and is the order of every generated table. */
export interface CapabilityRow {
  readonly name: string;
  readonly variant: string;
  readonly description: string;
}

export const CAPABILITIES = [
  { name: 'streaming', variant: 'Streaming', description: 'Backend can stream incremental `AssistantDelta` events.' },
  { name: 'tool_read', variant: 'ToolRead', description: 'File-read tool (e.g. `Read`).' },
  { name: 'tool_write', variant: 'ToolWrite', description: 'File-write / create tool (e.g. `Write`).' },
  { name: 'tool_edit', variant: 'ToolEdit', description: 'In-place file editing tool (e.g. `Edit`, `MultiEdit`).' },
  { name: 'tool_bash', variant: 'ToolBash', description: 'Shell / command execution tool.' },
  { name: 'tool_glob', variant: 'ToolGlob', description: 'Glob-pattern file search.' },
  { name: 'tool_grep', variant: 'ToolGrep', description: 'Content search / ripgrep.' },
  { name: 'tool_web_search', variant: 'ToolWebSearch', description: 'Web search capability.' },
  { name: 'tool_web_fetch', variant: 'ToolWebFetch', description: 'Fetch a URL and return contents.' },
  { name: 'tool_ask_user', variant: 'ToolAskUser', description: 'Interactive prompt to the human operator.' },
  { name: 'hooks_pre_tool_use', variant: 'HooksPreToolUse', description: 'Fire a hook **before** every tool invocation.' },
  { name: 'hooks_post_tool_use', variant: 'HooksPostToolUse', description: 'Fire a hook **after** every tool invocation.' },
  { name: 'session_resume', variant: 'SessionResume', description: 'Resume a previously-started session/conversation.' },
  { name: 'session_fork', variant: 'SessionFork', description: 'Fork/branch an existing session into a new one.' },
  { name: 'checkpointing', variant: 'Checkpointing', description: 'Save and restore execution checkpoints.' },
  { name: 'structured_output_json_schema', variant: 'StructuredOutputJsonSchema', description: 'Constrain model output to a JSON Schema.' },
  { name: 'mcp_client', variant: 'McpClient', description: 'Connect to external MCP servers as a client.' },
  { name: 'mcp_server', variant: 'McpServer', description: 'Expose MCP server endpoints.' },
  { name: 'tool_use', variant: 'ToolUse', description: 'Call tools that the caller declares.' },
  { name: 'extended_thinking', variant: 'ExtendedThinking', description: 'Return the reasoning as its own content before the answer.' },
  { name: 'image_input', variant: 'ImageInput', description: 'Accept images in messages.' },
  { name: 'pdf_input', variant: 'PdfInput', description: 'Accept PDF documents in messages.' },
  { name: 'code_execution', variant: 'CodeExecution', description: 'Run code in a sandbox of the engine.' },
  { name: 'logprobs', variant: 'Logprobs', description: 'Return log probabilities of tokens.' },
  { name: 'seed_determinism', variant: 'SeedDeterminism', description: 'Sample reproducibly from a seed.' },
  { name: 'stop_sequences', variant: 'StopSequences', description: 'End the answer at a given string.' },
  { name: 'function_calling', variant: 'FunctionCalling', description: 'Call functions with arguments as JSON.' },
  { name: 'vision', variant: 'Vision', description: 'Understand images.' },
  { name: 'audio', variant: 'Audio', description: 'Accept or produce audio.' },
  { name: 'json_mode', variant: 'JsonMode', description: 'Answer with a JSON object without a schema.' },
  { name: 'system_message', variant: 'SystemMessage', description: 'Take instructions apart from the conversation.' },
  { name: 'temperature', variant: 'Temperature', description: 'Sampling temperature.' },
  { name: 'top_p', variant: 'TopP', description: 'Nucleus sampling.' },
  { name: 'top_k', variant: 'TopK', description: 'Sampling from the k likeliest tokens.' },
  { name: 'max_tokens', variant: 'MaxTokens', description: 'Limit the length of the answer.' },
  { name: 'frequency_penalty', variant: 'FrequencyPenalty', description: 'Penalise frequent tokens.' },
  { name: 'presence_penalty', variant: 'PresencePenalty', description: 'Penalise tokens already present.' },
  { name: 'cache_control', variant: 'CacheControl', description: 'Mark prompt prefixes for caching.' },
  { name: 'batch_mode', variant: 'BatchMode', description: 'Process many requests asynchronously.' },
  { name: 'embeddings', variant: 'Embeddings', description: 'Turn text into vectors.' },
  { name: 'image_generation', variant: 'ImageGeneration', description: 'Produce images.' },
] as const satisfies readonly CapabilityRow[];

/** A named feature that a backend supports at some level. */
export type Capability = (typeof CAPABILITIES)[number]['name'];

/** The message of every refusal of a capability name; the border recognises it and adds a near name. */
export const UNKNOWN_CAPABILITY = 'is not a known capability';

export const Capability = z
  .enum(
    CAPABILITIES.map((row) => row.name),
    { error: UNKNOWN_CAPABILITY },
  )
  .meta({ id: 'Capability', description: 'A named feature that a backend supports at some level.' });

const variants = new Map<string, string>(CAPABILITIES.map((row) => [row.name, row.variant]));

/** The variant name reports and warnings print: `tool_read` → `ToolRead`. */
export function variantName(capability: Capability): string {
  return variants.get(capability) ?? capability;
}

export function isCapability(name: string): name is Capability {
  return variants.has(name);
}
