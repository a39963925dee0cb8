import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import { type Ask, MODEL, MOST_TURNS, type Said, SCHEMA, type Sdk, search, TOOL } from './sdk.ts';

const apiKey = 'not-checked';
// The SDK warns of every model that it does not know.
globalThis.AI_SDK_LOG_WARNINGS = false;

function toolsOf(run: boolean): ToolSet {
  const base = { description: TOOL.description, inputSchema: jsonSchema<{ query: string }>({ ...TOOL.schema, required: ['query'] }) };
  return { [TOOL.name]: run ? tool({ ...base, execute: async (input) => search(input) }) : tool(base) };
}

function options(model: LanguageModel, { prompt, tools, structured }: Ask) {
  return {
    model,
    prompt,
    maxRetries: 0,
    ...(tools ? { tools: toolsOf(false) } : {}),
    ...(structured ? { output: Output.object({ schema: jsonSchema<{ city: string; degrees: number }>(SCHEMA) }) } : {}),
  };
}

interface Result {
  readonly text: string;
  readonly toolCalls: readonly { readonly toolName: string; readonly input: unknown }[];
  readonly finishReason: string;
  readonly reasoningText: string | undefined;
  readonly totalTokens: number | undefined;
}

function said({ text, toolCalls, finishReason, reasoningText, totalTokens }: Result): Said {
  const calls = toolCalls.map(({ toolName, input }) => ({ name: toolName, input }));
  return { text, calls, whole: { text, calls, finishReason, reasoningText, totalTokens } };
}

function vercel(id: string, dialect: string, modelAt: (base: string) => LanguageModel, overloaded: number): Sdk {
  const failure = (status: number): Sdk['failures']['limited'] => ({ is: (error) => APICallError.isInstance(error), status });
  return {
    id,
    dialect,
    plain: async (base, ask) => {
      const { text, toolCalls, finishReason, reasoningText, usage } = await generateText(options(modelAt(base), ask));
      return said({ text, toolCalls, finishReason, reasoningText, totalTokens: usage.totalTokens });
    },
    streamed: async (base, ask) => {
      let failed: unknown;
      const onError = ({ error }: { error: unknown }): void => {
        failed = error;
      };
      const stream = streamText({ ...options(modelAt(base), ask), onError });
      // The SDK hands an error over on the side and then only says that there is no output.
      await stream.consumeStream();
      if (failed !== undefined) throw failed;
      const { totalTokens } = await stream.usage;
      const [text, toolCalls, finishReason, reasoningText] = await Promise.all([
        stream.text,
        stream.toolCalls,
        stream.finishReason,
        stream.reasoningText,
      ]);
      return said({ text, toolCalls, finishReason, reasoningText, totalTokens });
    },
    loop: async (base, prompt) => {
      const { text, steps } = await generateText({
        model: modelAt(base),
        prompt,
        maxRetries: 0,
        tools: toolsOf(true),
        stopWhen: stepCountIs(MOST_TURNS),
      });
      return { text, inputs: steps.flatMap(({ toolCalls }) => toolCalls.map(({ input }) => input)), turns: steps.length };
    },
    failures: { limited: failure(429), broken: failure(500), overloaded: failure(overloaded) },
  };
}

/** Vercel's `ai` with the providers of three vendors. */
export const vercelSdks: readonly Sdk[] = [
  vercel('ai with @ai-sdk/anthropic', 'claude', (base) => createAnthropic({ baseURL: `${base}/v1`, apiKey })(MODEL), 529),
  vercel('ai with @ai-sdk/openai (chat)', 'openai-chat', (base) => createOpenAI({ baseURL: `${base}/v1`, apiKey }).chat(MODEL), 503),
  vercel(
    'ai with @ai-sdk/openai (responses)',
    'openai-responses',
    (base) => createOpenAI({ baseURL: `${base}/v1`, apiKey }).responses(MODEL),
    503,
  ),
  vercel('ai with @ai-sdk/google', 'gemini', (base) => createGoogleGenerativeAI({ baseURL: `${base}/v1beta`, apiKey })(MODEL), 503),
];
