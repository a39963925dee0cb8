import type { Engine } from '../../engines/engine.ts';
import { builtInEngine, engines } from '../../engines/index.ts';
import { COMPATIBLE } from '../../engines/own.ts';

/** LiteLLM names a provider before the first / of a model; this is the engine here that serves it. */
export const LITELLM_PROVIDERS: Readonly<Record<string, string>> = {
  openai: 'openai',
  text_completion_openai: 'openai',
  azure: 'azure-openai',
  anthropic: 'claude',
  gemini: 'gemini',
  groq: 'groq',
  together_ai: 'together',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'xai',
  openrouter: 'openrouter',
  ollama: 'ollama',
  ollama_chat: 'ollama',
  hosted_vllm: 'vllm',
  lm_studio: 'lm-studio',
  llamafile: 'llama-cpp',
  moonshot: 'kimi',
  github_copilot: 'copilot',
  openai_like: COMPATIBLE,
  custom_openai: COMPATIBLE,
  litellm_proxy: COMPATIBLE,
  fireworks_ai: COMPATIBLE,
  cerebras: COMPATIBLE,
  nvidia_nim: COMPATIBLE,
  sambanova: COMPATIBLE,
};

/** Addresses of providers that LiteLLM knows by name, and that speak Chat Completions below `/v1`. */
export const LITELLM_ADDRESSES: Readonly<Record<string, string>> = {
  fireworks_ai: 'https://api.fireworks.ai/inference/v1',
  cerebras: 'https://api.cerebras.ai/v1',
  nvidia_nim: 'https://integrate.api.nvidia.com/v1',
  sambanova: 'https://api.sambanova.ai/v1',
};

const LOCAL = /^(?:localhost|127\.|\[::1\])/;

/** The built-in engine at this address. On one's own machine the address tells nothing, as every server has the same: there the name tells. */
export function engineAt(url: URL, name: string): string | undefined {
  const isHere = (engine: Engine): boolean => {
    const own = engine.endpoint?.url === undefined ? '' : new URL(engine.endpoint.url).hostname;
    return LOCAL.test(url.hostname) ? LOCAL.test(own) && engine.id === name : own === url.hostname;
  };
  return engines.find(isHere)?.id;
}

/** Whether it is the address that the engine has anyway. */
export function isOwnAddress(base: string, url: string): boolean {
  const own = builtInEngine(base)?.endpoint?.url;
  const plain = (text: string): string =>
    text.replace(/\/(?:v1(?:beta)?)?\/?(?:(?:chat\/completions|models)\/?)?$/, '').replace('//localhost', '//127.0.0.1');
  return own !== undefined && plain(own) === plain(url);
}
