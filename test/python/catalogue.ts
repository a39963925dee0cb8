/** A Python client library, and what installs it. */
export interface PythonClient {
  readonly name: string;
  readonly packages: readonly string[];
  /** The file of `clients/` that plays the cases with it. */
  readonly script: string;
  /** Which of its vendors it speaks to, where one script knows several. */
  readonly kind?: string;
  /** The folder of the cache, where several rows share an installation. */
  readonly folder: string;
}

/** The rows of a library that speaks to several vendors. */
function kinds(name: string, packages: readonly string[], of: readonly string[]): PythonClient[] {
  return of.map((kind) => ({ name: `${name}, ${kind}`, packages, script: `${name.replaceAll('-', '_')}_all.py`, kind, folder: name }));
}

export const CLIENTS: readonly PythonClient[] = [
  { name: 'openai, chat', packages: ['openai'], script: 'openai_chat.py', folder: 'openai' },
  { name: 'openai, responses', packages: ['openai'], script: 'openai_responses.py', folder: 'openai' },
  { name: 'anthropic', packages: ['anthropic'], script: 'anthropic_sdk.py', folder: 'anthropic' },
  { name: 'google-genai', packages: ['google-genai'], script: 'google_genai.py', folder: 'google-genai' },
  ...['openai', 'anthropic', 'google'].map((kind) => ({
    name: `langchain, ${kind}`,
    packages: ['langchain', 'langchain-openai', 'langchain-anthropic', 'langchain-google-genai'],
    script: 'langchain_all.py',
    kind,
    folder: 'langchain',
  })),
  ...['chat', 'responses', 'anthropic'].map((kind) => ({
    name: `pydantic-ai, ${kind}`,
    packages: ['pydantic-ai-slim[openai,anthropic]'],
    script: 'pydantic_ai_all.py',
    kind,
    folder: 'pydantic-ai',
  })),
  { name: 'instructor', packages: ['instructor', 'openai'], script: 'instructor_all.py', folder: 'instructor' },
  ...['openai', 'anthropic'].map((kind) => ({
    name: `litellm, ${kind}`,
    packages: ['litellm', 'mcp'],
    script: 'litellm_all.py',
    kind,
    folder: 'litellm',
  })),
  ...['chat', 'responses'].map((kind) => ({
    name: `openai-agents, ${kind}`,
    packages: ['openai-agents'],
    script: 'openai_agents_all.py',
    kind,
    folder: 'openai-agents',
  })),
  ...kinds('agno', ['agno', 'openai', 'anthropic', 'google-genai'], ['chat', 'responses', 'anthropic', 'google']),
  ...kinds(
    'llama-index',
    // Its package for Anthropic speaks of types that the SDK has renamed since.
    ['llama-index-core', ...['openai-like', 'openai', 'anthropic', 'google-genai'].map((llm) => `llama-index-llms-${llm}`), 'anthropic<1'],
    ['chat', 'responses', 'anthropic', 'google'],
  ),
  ...kinds('haystack', ['haystack-ai', 'anthropic-haystack', 'google-genai-haystack'], ['chat', 'responses', 'anthropic', 'google']),
  ...kinds('strands', ['strands-agents[openai,anthropic,gemini]'], ['openai', 'anthropic', 'google']),
  ...kinds('semantic-kernel', ['semantic-kernel', 'anthropic'], ['chat', 'anthropic']),
  // These two set a temperature, which Anthropic's SDK of today no longer takes.
  ...kinds('autogen', ['autogen-agentchat', 'autogen-ext[openai,anthropic]', 'anthropic<1'], ['chat', 'anthropic']),
  ...kinds('magentic', ['magentic[anthropic]', 'anthropic<1'], ['chat', 'anthropic']),
  ...kinds('dspy', ['dspy'], ['chat', 'anthropic']),
  { name: 'smolagents', packages: ['smolagents[openai]'], script: 'smolagents_all.py', folder: 'smolagents' },
  { name: 'claude-agent-sdk', packages: ['claude-agent-sdk'], script: 'claude_agent.py', folder: 'claude-agent-sdk' },
];

/** The sim in the dialect of each vendor, so that every client is mapped onto every other wire. */
export const ENGINES: readonly string[] = [
  'sim:claude',
  'sim:openai-chat',
  'sim:openai-responses',
  'sim:gemini',
  'sim:kimi',
  'sim:copilot',
];

export const CASES: readonly (readonly [id: string, title: string])[] = [
  ['answer', 'answer'],
  ['stream', 'stream'],
  ['tools', 'tool loop'],
  ['json', 'JSON by schema'],
  ['failure', 'failure as its own error'],
];

/** What became of one case. */
export interface Verdict {
  readonly client: string;
  readonly version: string;
  readonly engine: string;
  readonly case: string;
  /** `ok`, `no`, or `none` where the library has no such thing. */
  readonly mark: string;
  readonly note: string;
}

/** A client as it was last tried. */
export interface TriedClient {
  readonly client: string;
  readonly version: string;
  readonly date: string;
  readonly verdicts: readonly (Pick<Verdict, 'engine' | 'case' | 'mark'> & { readonly note?: string })[];
}

/** Everything that was tried, in the order of the catalogue. */
export interface Figures {
  readonly clients: readonly TriedClient[];
}
