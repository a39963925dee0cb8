import type { JsonObject } from '../../../base/json.ts';

/** Tasks of the extension that we load into the agent for a run. All are optional; an empty one does nothing. */
export interface ExtensionSettings {
  /** A provider of models: our gateway. */
  readonly provider?: { readonly name: string; readonly config: JsonObject };
  /** Members to set in every request, by the agent's name of the wire. */
  readonly payload?: Readonly<Record<string, JsonObject>>;
  /** Stands before the agent's own system prompt. */
  readonly systemPromptBefore?: string;
  readonly skillPaths?: readonly string[];
  /** Servers of the run, by name. Only agents that say so have a place for them. */
  readonly mcpServers?: Readonly<Record<string, JsonObject>>;
  /** `ask`: a tool that changes something waits for an answer. `refuse`: it is refused, as nobody can answer. */
  readonly gate?: 'ask' | 'refuse';
  /** Tools that change nothing and pass the gate. */
  readonly harmless?: readonly string[];
  /** Every tool waits for a hook of the caller, before the gate. */
  readonly watched?: true;
}

/** The title by which the dialogue knows the questions of our gate from those of other extensions. */
export const GATE_TITLE = 'abp-approval';

/** The title of the question for a hook; the answer is this word, or the reason why the tool may not run. */
export const HOOK_TITLE = 'abp-hook';
export const HOOK_LETS = 'abp-let';

/** The extension gives the model this result of a call that needed an approval which nobody could give. */
export const REFUSED = 'This tool needs an approval, and nobody can give one in this run.';

/** The extension gives the model this result when the caller said no. */
export const DENIED = 'The user denied this tool call.';

// Plain JavaScript, because both agents load it as it stands, under Node and under Bun.
const BODY = `
function hook(pi) {
  pi.on('tool_call', async (event, ctx) => {
    const question = JSON.stringify({ toolCallId: event.toolCallId, toolName: event.toolName, input: event.input });
    const answer = await ctx.ui.input(settings.hookTitle, question);
    return answer === settings.hookLets ? undefined : { block: true, reason: answer || settings.denied };
  });
}

function gate(pi) {
  pi.on('tool_call', async (event, ctx) => {
    if (settings.harmless.includes(event.toolName)) return undefined;
    if (settings.gate === 'refuse') return { block: true, reason: settings.refused };
    const question = JSON.stringify({ toolCallId: event.toolCallId, toolName: event.toolName, input: event.input });
    const allowed = await ctx.ui.confirm(settings.gateTitle, question);
    return allowed ? undefined : { block: true, reason: settings.denied };
  });
}

function payload(pi) {
  pi.on('before_provider_request', (event, ctx) => {
    const members = settings.payload[ctx.model?.api];
    return members === undefined ? undefined : { ...event.payload, ...members };
  });
}

function systemPrompt(pi) {
  pi.on('before_agent_start', (event) => ({
    systemPrompt: Array.isArray(event.systemPrompt)
      ? [settings.systemPromptBefore, ...event.systemPrompt]
      : settings.systemPromptBefore + '\\n\\n' + event.systemPrompt,
  }));
}

export default function (pi) {
  if (settings.provider) pi.registerProvider(settings.provider.name, settings.provider.config);
  if (settings.payload) payload(pi);
  if (settings.systemPromptBefore) systemPrompt(pi);
  if (settings.skillPaths) pi.on('resources_discover', () => ({ skillPaths: settings.skillPaths }));
  for (const [name, server] of Object.entries(settings.mcpServers ?? {})) pi.registerMcpServer(name, server);
  if (settings.watched) hook(pi);
  if (settings.gate) gate(pi);
}
`;

/** The text of an extension file, loaded with `-e`; undefined when there is nothing for it to do. */
export function extensionText(settings: ExtensionSettings): string | undefined {
  if (Object.keys(settings).length === 0) return undefined;
  const words = { gateTitle: GATE_TITLE, refused: REFUSED, denied: DENIED, hookTitle: HOOK_TITLE, hookLets: HOOK_LETS };
  const all = { ...settings, harmless: settings.harmless ?? [], ...words };
  return `const settings = ${JSON.stringify(all)};\n${BODY}`;
}
