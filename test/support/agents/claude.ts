import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { print } from './print.ts';

/**
 * Speaks as Claude Code does in its stream-json form: one user message on the standard input, a call to the model, the answer, a result.
 * Without `--print` it is a screen that answers the prompt of its arguments and ends.
 * The prompt `ask` makes it ask for a permission first, `hook` makes it call the hook that was registered, `wait` makes it wait for ever, `write NAME` makes it write a file first,
 * `persist` makes it try again and again in silence while the model fails.
 */
if (process.argv.includes('--version')) {
  process.stdout.write('2.1.325 (Claude Code)\n');
  process.exit(0);
}

const { ANTHROPIC_BASE_URL = '', ANTHROPIC_AUTH_TOKEN = '' } = process.env;
const session_id = '11111111-2222-4333-8444-555555555555';

interface ClaudeLine {
  readonly type: string;
  readonly message?: { readonly content: string | readonly { readonly text?: string }[] };
  readonly request?: {
    readonly subtype?: string;
    readonly hooks?: { readonly PreToolUse: readonly [{ readonly hookCallbackIds: readonly string[] }] };
  };
  readonly response?: {
    readonly response?: { readonly behavior?: string; readonly hookSpecificOutput?: Readonly<Record<string, string>> };
  };
}

function promptOf({ message }: ClaudeLine): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
}

let hook: string | undefined;

function answeredBy({ response }: ClaudeLine): string {
  const { behavior, hookSpecificOutput: output } = response?.response ?? {};
  return output === undefined ? `permission: ${behavior}` : `hook: ${output.permissionDecision} ${output.permissionDecisionReason}`;
}

async function asked(prompt: string): Promise<{ readonly text: string; readonly is_error: boolean }> {
  const response = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', authorization: `Bearer ${ANTHROPIC_AUTH_TOKEN}` },
    body: JSON.stringify({ model: 'claude-x', max_tokens: 100, messages: [{ role: 'user', content: prompt }] }),
  });
  const body = (await response.json()) as { content?: { text?: string }[]; error?: { message: string } };
  const text = body.content?.map((block) => block.text ?? '').join('') ?? body.error?.message ?? '';
  return { text, is_error: !response.ok };
}

async function answer(prompt: string): Promise<void> {
  let said = await asked(prompt);
  for (; said.is_error && prompt === 'persist'; said = await asked(prompt)) await sleep(50);
  const { text, is_error } = said;
  print({ type: 'assistant', session_id, message: { id: 'msg_1', role: 'assistant', content: [{ type: 'text', text }] } });
  print({
    type: 'result',
    subtype: 'success',
    is_error,
    result: text,
    session_id,
    num_turns: 1,
    total_cost_usd: 0.01,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
}

if (!process.argv.includes('--print')) {
  const { text, is_error } = await asked(process.argv.at(-1) ?? '');
  process.stdout.write(`${text}\n`);
  process.exit(is_error ? 1 : 0);
}

print({ type: 'system', subtype: 'init', session_id, tools: [], mcp_servers: [], model: 'claude-x' });
const lines = createInterface(process.stdin);
for await (const line of lines) {
  const said = JSON.parse(line) as ClaudeLine;
  if (said.request?.subtype === 'initialize') hook = said.request.hooks?.PreToolUse[0].hookCallbackIds[0];
  if (said.type === 'control_response') await answer(answeredBy(said));
  if (said.type !== 'user') continue;
  const prompt = promptOf(said);
  const [, name] = /^write (\S+)$/.exec(prompt) ?? [];
  if (name !== undefined) writeFileSync(name, prompt);
  if (prompt === 'wait') await sleep(600_000);
  else if (prompt === 'hook') {
    const input = { tool_name: 'Write', tool_input: { file_path: 'a', content: 'b' } };
    print({
      type: 'control_request',
      request_id: 'hook-1',
      request: { subtype: 'hook_callback', callback_id: hook, tool_use_id: 't1', input },
    });
  } else if (prompt === 'ask') {
    const request = { subtype: 'can_use_tool', tool_name: 'Write', tool_use_id: 't1', input: { file_path: 'a', content: 'b' } };
    print({ type: 'control_request', request_id: 'req-1', request });
  } else await answer(prompt);
}
