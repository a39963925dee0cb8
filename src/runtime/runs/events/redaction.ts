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
