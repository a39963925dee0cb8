import {
  ApiError,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai';
import { type Ask, MODEL, MOST_TURNS, type Said, SCHEMA, type Sdk, search, TOOL } from './sdk.ts';

function client(base: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey: 'not-checked', httpOptions: { baseUrl: base } });
}

function request({ prompt, tools, structured }: Ask): GenerateContentParameters & { contents: Content[] } {
  const { name, description, schema } = TOOL;
  return {
    model: MODEL,
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    config: {
      ...(tools ? { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }] } : {}),
      ...(structured ? { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } : {}),
    },
  };
}

function partsOf(responses: readonly GenerateContentResponse[]): Part[] {
  return responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
}

/** The SDK leaves a stream in pieces, so what it would be whole is put together here. */
function said(responses: readonly GenerateContentResponse[]): Said {
  const parts = partsOf(responses);
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall === undefined ? [] : [{ name: functionCall.name ?? '', input: functionCall.args }],
  );
  const last = responses.at(-1);
  const thoughts = parts.map((part) => (part.thought ? (part.text ?? '') : '')).join('');
  const finish = last?.candidates?.[0]?.finishReason;
  return { text, calls, whole: { text, thoughts, calls, finish, model: last?.modelVersion, usage: last?.usageMetadata?.totalTokenCount } };
}

/** Google's own SDK. */
export const google: Sdk = {
  id: '@google/genai',
  dialect: 'gemini',
  plain: async (base, ask) => said([await client(base).models.generateContent(request(ask))]),
  streamed: async (base, ask) => said(await Array.fromAsync(await client(base).models.generateContentStream(request(ask)))),
  loop: async (base, prompt) => {
    const { contents, ...rest } = request({ prompt, tools: true });
    const history = [...contents];
    const inputs: unknown[] = [];
    for (let turns = 1; turns <= MOST_TURNS; turns += 1) {
      const response = await client(base).models.generateContent({ ...rest, contents: history });
      const calls = response.functionCalls ?? [];
      if (calls.length === 0) return { text: response.text ?? '', inputs, turns };
      inputs.push(...calls.map(({ args }) => args));
      const results = calls.map(
        ({ id, name, args }): Part => ({
          functionResponse: { ...(id ? { id } : {}), name: name ?? '', response: { output: search(args) } },
        }),
      );
      history.push({ role: 'model', parts: partsOf([response]) }, { role: 'user', parts: results });
    }
    throw new Error('the loop does not end');
  },
  failures: {
    limited: { is: (error) => error instanceof ApiError, status: 429 },
    broken: { is: (error) => error instanceof ApiError, status: 500 },
    overloaded: { is: (error) => error instanceof ApiError, status: 503 },
  },
};
