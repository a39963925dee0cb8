import { ownTurn } from '../../../base/bounded/turns.ts';
import { sha256 } from '../../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject, jsonOf } from '../../../base/json.ts';
import type { McpServerConfig, RunOptions } from '../../../contract/runs/run-options.ts';

const HIDDEN = '•••';

/** Options as they may be kept: names of variables and headers, never their values. */
export function keepableOptions(options: RunOptions): JsonObject {
  const { env, mcpServers, ...rest } = options;
  return jsonOf({
    ...rest,
    ...(env === undefined ? {} : { env: hidden(env) }),
    ...(mcpServers === undefined ? {} : { mcpServers: mcpServers.map(keepableServer) }),
  }); // RunOptions come from JSON
}

/** Where nothing of a conversation is to be kept, the prompt is only recognised. */
export function withoutWords(options: JsonObject): JsonObject {
  const { prompt, systemPrompt: _system, agentsDoc: _doc, attachments: _files, ...rest } = options;
  return { ...rest, prompt: `sha256:${sha256(JSON.stringify(prompt))}` };
}

function keepableServer(server: McpServerConfig): McpServerConfig {
  if (server.transport === 'stdio') return { ...server, ...(server.env === undefined ? {} : { env: hidden(server.env) }) };
  return { ...server, ...(server.headers === undefined ? {} : { headers: hidden(server.headers) }) };
}

function hidden(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]));
}

/** The value with `redact` done to every text in it. */
export function withoutSecrets(value: JsonObject, redact: (text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [redact(key), redacted(member, redact)]));
}

function redacted(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item: Json) => redacted(item, redact));
  return isJsonObject(value) ? withoutSecrets(value, redact) : value;
}

/** Characters that are searched in one turn of the event loop, and around them: no secret is longer than what is around. */
const WINDOW = 64 * 1024;
const AROUND = 8 * 1024;

/** As `withoutSecrets`, for texts of any length: a long one is searched in turns, and done as a whole only where something was found. */
export async function withoutSecretsInTurns(value: JsonObject, redact: (text: string) => string): Promise<JsonObject> {
  const entries = Object.entries(value).map(async ([key, member]) => [redact(key), await redactedInTurns(member, redact)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function redactedInTurns(value: Json, redact: (text: string) => string): Promise<Json> {
  if (typeof value === 'string') return value.length <= WINDOW || (await holdsSecret(value, redact)) ? redact(value) : value;
  if (Array.isArray(value)) return await Promise.all(value.map((item: Json) => redactedInTurns(item, redact)));
  return isJsonObject(value) ? await withoutSecretsInTurns(value, redact) : value;
}

async function holdsSecret(text: string, redact: (text: string) => string): Promise<boolean> {
  for (let at = 0; at < text.length; at += WINDOW) {
    await ownTurn();
    const window = text.slice(Math.max(0, at - AROUND), at + WINDOW + AROUND);
    if (redact(window) !== window) return true;
  }
  return false;
}

/** Characters of a result's text that are kept with the run; its events have the rest. */
const MOST_TEXT = 4 * 1024 * 1024;

/** A text as it is kept: a long one ends before a word, as half a secret would not be known for one, and says so. */
export function keepableText(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  const space = text.slice(MOST_TEXT - AROUND, MOST_TEXT).search(/\s\S*$/);
  const kept = text.slice(0, MOST_TEXT - AROUND + space + 1);
  return `${kept}\n(${text.length - kept.length} more characters are in the events of the run)`;
}
