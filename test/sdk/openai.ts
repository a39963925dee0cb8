import OpenAI from 'openai';
import { type Ask, MODEL, MOST_TURNS, type Said, SCHEMA, type Sdk, search, TOOL } from './sdk.ts';

function client(base: string): OpenAI {
  return new OpenAI({ baseURL: `${base}/v1`, apiKey: 'not-checked', maxRetries: 0 });
}

const failures: Sdk['failures'] = {
  limited: { is: (error) => error instanceof OpenAI.RateLimitError, status: 429 },
  broken: { is: (error) => error instanceof OpenAI.InternalServerError, status: 500 },
  overloaded: { is: (error) => error instanceof OpenAI.InternalServerError, status: 503 },
};

type ChatRequest = OpenAI.ChatCompletionCreateParamsNonStreaming;

function chatRequest({ prompt, tools, structured }: Ask): ChatRequest {
  const { name, description, schema } = TOOL;
  return {
    model: MODEL,
    messages: [{ role: 'user', content: prompt }],
    ...(tools ? { tools: [{ type: 'function', function: { name, description, parameters: schema } }] } : {}),
    ...(structured ? { response_format: { type: 'json_schema', json_schema: { name: 'weather', schema: SCHEMA, strict: true } } } : {}),
  };
}

function functionCalls(message: OpenAI.ChatCompletionMessage): OpenAI.ChatCompletionMessageFunctionToolCall[] {
  return (message.tool_calls ?? []).filter((call) => call.type === 'function');
}

function saidInChat(completion: OpenAI.ChatCompletion): Said {
  const [choice] = completion.choices;
  if (choice === undefined) throw new Error('no choice');
  const { content, refusal } = choice.message;
  const calls = functionCalls(choice.message).map(({ function: { name, arguments: text } }) => ({ name, input: JSON.parse(text) }));
  return {
    text: content ?? '',
    calls,
    // A stream cannot say that there is no text but by not having any.
    whole: {
      content: content ?? '',
      refusal: refusal ?? null,
      calls,
      finish: choice.finish_reason,
      model: completion.model,
      usage: completion.usage?.total_tokens,
    },
  };
}

/** OpenAI's own SDK on Chat Completions. */
export const openaiChat: Sdk = {
  id: 'openai (chat)',
  dialect: 'openai-chat',
  plain: async (base, ask) => saidInChat(await client(base).chat.completions.create(chatRequest(ask))),
  streamed: async (base, ask) => {
    const stream = client(base).chat.completions.stream({ ...chatRequest(ask), stream: true, stream_options: { include_usage: true } });
    return saidInChat(await stream.finalChatCompletion());
  },
  loop: async (base, prompt) => {
    const { messages, ...rest } = chatRequest({ prompt, tools: true });
    const history = [...messages];
    const inputs: unknown[] = [];
    for (let turns = 1; turns <= MOST_TURNS; turns += 1) {
      const [choice] = (await client(base).chat.completions.create({ ...rest, messages: history })).choices;
      if (choice === undefined) throw new Error('no choice');
      const calls = functionCalls(choice.message);
      if (calls.length === 0) return { text: choice.message.content ?? '', inputs, turns };
      inputs.push(...calls.map((call) => JSON.parse(call.function.arguments)));
      const results = calls.map(
        (call) => ({ role: 'tool', tool_call_id: call.id, content: search(JSON.parse(call.function.arguments)) }) as const,
      );
      history.push(choice.message, ...results);
    }
    throw new Error('the loop does not end');
  },
  failures,
};

type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsNonStreaming & { input: OpenAI.Responses.ResponseInputItem[] };

function responsesRequest({ prompt, tools, structured }: Ask): ResponsesRequest {
  const { name, description, schema } = TOOL;
  return {
    model: MODEL,
    store: false,
    input: [{ role: 'user', content: prompt }],
    ...(tools ? { tools: [{ type: 'function', name, description, parameters: schema, strict: true }] } : {}),
    ...(structured ? { text: { format: { type: 'json_schema', name: 'weather', schema: SCHEMA, strict: true } } } : {}),
  };
}

function saidInResponses(response: OpenAI.Responses.Response): Said {
  const items = response.output.map((item) => (item.type === 'function_call' ? { ...item, call_id: '', id: '' } : { ...item, id: '' }));
  return {
    text: response.output_text,
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
    // The SDK adds what it parsed to the items of a stream.
    whole: { items: items.map(withoutParsed), status: response.status, model: response.model, usage: response.usage?.total_tokens },
  };
}

function withoutParsed(item: object): unknown {
  return JSON.parse(JSON.stringify(item, (key, value: unknown) => (key === 'parsed' || key === 'parsed_arguments' ? undefined : value)));
}

/** OpenAI's own SDK on Responses. */
export const openaiResponses: Sdk = {
  id: 'openai (responses)',
  dialect: 'openai-responses',
  plain: async (base, ask) => saidInResponses(await client(base).responses.create(responsesRequest(ask))),
  streamed: async (base, ask) =>
    saidInResponses(
      await client(base)
        .responses.stream({ ...responsesRequest(ask), stream: true })
        .finalResponse(),
    ),
  loop: async (base, prompt) => {
    const { input, ...rest } = responsesRequest({ prompt, tools: true });
    const items = [...input];
    const inputs: unknown[] = [];
    for (let turns = 1; turns <= MOST_TURNS; turns += 1) {
      const { output, output_text } = await client(base).responses.create({ ...rest, input: items });
      const calls = output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) return { text: output_text, inputs, turns };
      inputs.push(...calls.map((call) => JSON.parse(call.arguments)));
      const results = calls.map(
        (call) => ({ type: 'function_call_output', call_id: call.call_id, output: search(JSON.parse(call.arguments)) }) as const,
      );
      // The SDK types what comes back a little wider than what goes in.
      items.push(...(output as OpenAI.Responses.ResponseInputItem[]), ...results);
    }
    throw new Error('the loop does not end');
  },
  failures,
};
