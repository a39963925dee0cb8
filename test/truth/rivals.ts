import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { WITHIN } from './rival-messages.ts';
import { CHAT, KIMI, RESPONSES, type Settings } from './rival-settings.ts';
import { CLAUDE, GEMINI } from './rival-settings-more.ts';
import type { SampleRequest } from './sources.ts';

const CATALOGUE: Readonly<Record<string, { readonly base: JsonObject; readonly settings: Settings }>> = {
  claude: { base: { model: 'm', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] }, settings: CLAUDE },
  'openai-chat': { base: { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, settings: CHAT },
  'openai-responses': { base: { model: 'm', input: 'hi' }, settings: RESPONSES },
  gemini: { base: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }, settings: GEMINI },
  kimi: { base: { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, settings: KIMI },
  copilot: { base: { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, settings: CHAT },
};

/** Two settings in one request; what both say of one object stands there together, and of two lists the later one stays. */
function together(one: JsonObject, other: JsonObject): JsonObject {
  const both = Object.entries(other).map(([name, value]) => {
    const before = one[name] ?? null;
    return [name, isJsonObject(before) && isJsonObject(value) ? together(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(both) };
}

function sample(from: string, name: string, body: JsonObject): SampleRequest {
  return { id: `rivals ${from}: ${name}`, from, body, address: { model: 'asked-model', stream: false } };
}

function named(setting: JsonObject): string {
  return JSON.stringify(setting satisfies Json).slice(0, 80);
}

/** Every two settings of a dialect in one request, and messages whose members compete. */
export function rivals(): SampleRequest[] {
  return Object.entries(CATALOGUE).flatMap(([from, { base, settings }]) => [
    ...settings.flatMap((one, at) =>
      settings.slice(at + 1).map((other) => sample(from, `${named(one)} and ${named(other)}`, together(together(base, one), other))),
    ),
    ...(WITHIN[from] ?? []).map((message) => sample(from, named(message), { ...base, ...message })),
  ]);
}
