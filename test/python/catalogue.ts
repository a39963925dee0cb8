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
