import Anthropic from '@anthropic-ai/sdk';
import { type Ask, MODEL, MOST_TURNS, type Said, SCHEMA, type Sdk, search, TOOL } from './sdk.ts';

/** How an SDK of one API version calls; the installed one sends the newer version by itself. */
type Connect = (base: string) => Anthropic;

const connect: Connect = (base) => new Anthropic({ baseURL: base, apiKey: 'not-checked', maxRetries: 0 });

/** What SDKs before 1.0 send. */
const connectOld: Connect = (base) =>
  new Anthropic({ baseURL: base, apiKey: 'not-checked', maxRetries: 0, defaultHeaders: { 'anthropic-version': '2023-06-01' } });

type Request = Anthropic.MessageCreateParamsNonStreaming;

function request({ prompt, tools, structured }: Ask): Request {
  return {
    model: MODEL,
    max_tokens: 2048,
    messages: [{ role: 'user', content: prompt }],
    ...(tools
      ? { tools: [{ name: TOOL.name, description: TOOL.description, input_schema: { ...TOOL.schema, required: ['query'] } }] }
      : {}),
    ...(structured ? { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } : {}),
  };
}

function said(message: Anthropic.Message): Said {
  const { content, stop_reason, stop_sequence, role, model, usage } = message;
  const blocks = content.map((block) => (block.type === 'tool_use' ? { ...block, id: '' } : block));
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
    whole: { blocks, stop_reason, stop_sequence, role, model, output: usage.output_tokens, input: usage.input_tokens },
  };
}

const failures: Sdk['failures'] = {
  limited: { is: (error) => error instanceof Anthropic.RateLimitError, status: 429 },
  broken: { is: (error) => error instanceof Anthropic.InternalServerError, status: 500 },
  overloaded: { is: (error) => error instanceof Anthropic.InternalServerError, status: 529 },
};

/** Anthropic's own SDK in one API version, with what a request of that version may say and another may not. */
function sdkOf(id: string, client: Connect, more: object): Sdk {
  const asking = (ask: Ask): Request => ({ ...request(ask), ...more });
  return {
    id,
    dialect: 'claude',
    plain: async (base, ask) => said(await client(base).messages.create(asking(ask))),
    streamed: async (base, ask) => said(await client(base).messages.stream(asking(ask)).finalMessage()),
    loop: (base, prompt) => loop(client(base), asking({ prompt, tools: true })),
    failures,
  };
}

export const anthropicSdks: readonly Sdk[] = [
  sdkOf('@anthropic-ai/sdk', connect, {}),
  sdkOf('@anthropic-ai/sdk (2023-06-01)', connectOld, { temperature: 0.5 }),
];

async function loop(client: Anthropic, first: Request): ReturnType<Sdk['loop']> {
  const { messages, ...rest } = first;
  const history = [...messages];
  const inputs: unknown[] = [];
  for (let turns = 1; turns <= MOST_TURNS; turns += 1) {
    const { content } = await client.messages.create({ ...rest, messages: history });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), inputs, turns };
    inputs.push(...calls.map(({ input }) => input));
    const results = calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: search(input) }) as const);
    history.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
  throw new Error('the loop does not end');
}
