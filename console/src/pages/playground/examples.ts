/** Requests to begin with; all of them can be sent to `sim`, which needs no key. */
export interface Example {
  readonly name: string;
  readonly dialect: string;
  readonly request: object;
}

const claude = (content: unknown, more: object = {}): object => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 800,
  messages: [{ role: 'user', content }],
  ...more,
});
const lookup = {
  name: 'lookup_release',
  description: 'Finds a release by version.',
  input_schema: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
};

export const EXAMPLES: readonly Example[] = [
  {
    name: 'tool loop',
    dialect: 'claude',
    request: claude('call the tool lookup_release with {"version":"4.2.0"}', {
      temperature: 0.2,
      top_k: 40,
      stream: true,
      metadata: { user_id: 'u_4812' },
      system: [{ type: 'text', text: 'You are the release clerk. Answer from the tool.', cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['END'],
      tools: [lookup],
    }),
  },
  { name: 'say hello', dialect: 'claude', request: claude('say hello from the sim') },
  {
    name: 'thinking',
    dialect: 'claude',
    request: claude('say what you thought', { max_tokens: 4000, stream: true, thinking: { type: 'enabled', budget_tokens: 1024 } }),
  },
  {
    name: 'vision',
    dialect: 'claude',
    request: claude([
      {
        type: 'image',
        source: {
          type: 'base64',
          media_type: 'image/png',
          data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        },
      },
      { type: 'text', text: 'say what is in the picture' },
    ]),
  },
  {
    name: 'structured output',
    dialect: 'openai-chat',
    request: {
      model: 'gpt-6.1-sol',
      messages: [{ role: 'user', content: 'say a release as JSON' }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'release', schema: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] } },
      },
    },
  },
  {
    name: 'logprobs, which claude refuses',
    dialect: 'openai-chat',
    request: { model: 'gpt-6.1-sol', logprobs: true, top_logprobs: 3, messages: [{ role: 'user', content: 'say hello' }] },
  },
  { name: 'a failure of the engine', dialect: 'claude', request: claude('fail with 529') },
  { name: 'a cut stream', dialect: 'claude', request: claude('cut the stream', { stream: true }) },
];

export const DIALECTS = ['claude', 'openai-chat', 'openai-responses', 'gemini', 'kimi', 'copilot'] as const;

/** The model of a request: in its body, or for Gemini in the address. */
export function modelOf(dialect: string, request: unknown, inAddress: string): string {
  if (dialect === 'gemini') return inAddress;
  const named: unknown = typeof request === 'object' && request !== null ? Reflect.get(request, 'model') : undefined;
  return typeof named === 'string' ? named : '';
}

/** Where a request of a dialect is sent under an engine. Gemini says in the address which model it means, and that it streams. */
export function pathOf(dialect: string, model: string): string {
  const paths: Readonly<Record<string, string>> = {
    claude: '/v1/messages',
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    gemini: `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    kimi: '/kimi/v1/chat/completions',
    copilot: '/copilot/chat/completions',
  };
  return paths[dialect] ?? '/v1/messages';
}
