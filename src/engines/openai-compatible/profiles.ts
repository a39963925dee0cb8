import type { CapabilityManifest } from '../../contract/support.ts';
import type { Concept } from '../../ir/concept.ts';
import type { Engine } from '../engine.ts';

/** Capabilities of every upstream that speaks Chat Completions; a row adds those that its vendor documents. */
const COMMON: CapabilityManifest = {
  streaming: 'native',
  tool_use: 'native',
  function_calling: 'native',
  system_message: 'native',
  max_tokens: 'native',
  temperature: 'native',
  top_p: 'native',
  stop_sequences: 'native',
  json_mode: 'native',
  structured_output_json_schema: 'native',
  vision: { restricted: { reason: 'only on models that take images' } },
  image_input: { restricted: { reason: 'only on models that take images' } },
  frequency_penalty: 'native',
  presence_penalty: 'native',
  seed_determinism: 'native',
  logprobs: 'unsupported',
  top_k: 'unsupported',
  extended_thinking: 'unsupported',
  code_execution: 'unsupported',
  tool_web_search: 'unsupported',
  pdf_input: 'unsupported',
  audio: 'unsupported',
};

interface Profile {
  readonly id: string;
  readonly name: string;
  /** Stands before `/v1/chat/completions`; absent where every customer has an address of their own. */
  readonly url?: string;
  /** Variables that hold the key; none for a server on one's own machine. */
  readonly env: readonly string[];
  readonly header?: string;
  /** The provider's name in the price data, where it differs from the id. */
  readonly prices?: string;
  readonly manifest?: CapabilityManifest;
  /** Ways of its own that are known of it, on every model. */
  readonly traits?: readonly string[];
  /** Fields of the dialect that it refuses or does not document, on every model. */
  readonly lacks?: readonly Concept[];
}

const PROFILES: readonly Profile[] = [
  {
    id: 'azure-openai',
    name: 'Azure OpenAI',
    env: ['AZURE_OPENAI_API_KEY'],
    prices: 'azure',
    header: 'api-key',
    manifest: { logprobs: 'native' },
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    url: 'https://openrouter.ai/api',
    env: ['OPENROUTER_API_KEY'],
    // It documents that the details of an answer's reasoning are to be sent back with the history, signatures included.
    traits: ['reasoning-details'],
    lacks: ['count'],
  },
  { id: 'groq', name: 'Groq', url: 'https://api.groq.com/openai', env: ['GROQ_API_KEY'], lacks: ['count', 'logprobs'] },
  { id: 'together', name: 'Together', url: 'https://api.together.xyz', env: ['TOGETHER_API_KEY'] },
  { id: 'mistral', name: 'Mistral', url: 'https://api.mistral.ai', env: ['MISTRAL_API_KEY'] },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    url: 'https://api.deepseek.com',
    env: ['DEEPSEEK_API_KEY'],
    manifest: { logprobs: 'native', seed_determinism: 'unsupported' },
    lacks: ['count'],
  },
  { id: 'xai', name: 'xAI', url: 'https://api.x.ai', env: ['XAI_API_KEY'], prices: 'x-ai', manifest: { logprobs: 'native' } },
  { id: 'ollama', name: 'Ollama', url: 'http://127.0.0.1:11434', env: [], lacks: ['count'] },
  { id: 'vllm', name: 'vLLM', url: 'http://127.0.0.1:8000', env: [], manifest: { logprobs: 'native' } },
  { id: 'lm-studio', name: 'LM Studio', url: 'http://127.0.0.1:1234', env: [], lacks: ['count'] },
  { id: 'llama-cpp', name: 'llama.cpp', url: 'http://127.0.0.1:8080', env: [], lacks: ['count'] },
];

function engineOf({ id, name, url, env, header, manifest, prices, lacks, traits = [] }: Profile): Engine {
  return {
    id,
    name,
    aliases: [],
    dialects: ['openai-chat'],
    manifest: { ...COMMON, ...manifest },
    models: lacks === undefined ? [] : [{ match: '*', lacks, traits }],
    ...(env.length === 0 ? {} : { prices: prices ?? id }),
    endpoint: url === undefined ? {} : { url },
    auth: {
      header: header ?? 'authorization',
      prefix: header === undefined ? 'Bearer ' : '',
      env,
      ...(env.length === 0 ? { optional: true } : {}),
    },
  };
}

/** Upstreams that speak Chat Completions: one row each. */
export const openaiCompatible: readonly Engine[] = PROFILES.map(engineOf);

/** The profile where nothing is known but the dialect: the base of an engine that a configuration adds. */
export const engineBase: Engine = engineOf({ id: 'openai-compatible', name: 'OpenAI-compatible', env: [] });
