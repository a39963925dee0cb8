import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { print } from './print.ts';

/**
 * Speaks as the documentation says that Cursor's CLI does: lines with `--print`, ACP as `acp`. It understands
 * `write the text T into the file P`, which it does with `--force` alone, and asks for a permission before everything over ACP.
 */
const args = process.argv.slice(2);
const session_id = args.find((arg) => arg.startsWith('--resume='))?.slice('--resume='.length) ?? '22222222-3333-4444-8555-666666666666';

if (args.includes('--version')) {
  process.stdout.write('2026.09.28-64d2043\n');
  process.exit(0);
}
if (process.env.CURSOR_API_KEY === undefined) {
  process.stderr.write('Error: Authentication required. Run `cursor-agent login`, or set CURSOR_API_KEY.\n');
  process.exit(1);
}
if (args.at(-1) === 'acp') acp();
else lines((args.at(-1) ?? '').trim());

/** Text comes in pieces with a time; each run of pieces is repeated as a whole, with its model call or without a time. */
function says(pieces: readonly string[], modelCall?: string): void {
  const message = (text: string): object => ({ role: 'assistant', content: [{ type: 'text', text }] });
  for (const piece of pieces) print({ type: 'assistant', message: message(piece), session_id, timestamp_ms: 1 });
  const whole = { type: 'assistant', message: message(pieces.join('')), session_id };
  print(modelCall === undefined ? whole : { ...whole, timestamp_ms: 2, model_call_id: modelCall });
}

function writes(text: string, path: string): void {
  const file = resolve(path);
  const call = { type: 'tool_call', call_id: 'tool_1', model_call_id: 'm1', session_id };
  const input = { path: file, streamContent: text };
  says(['I write', ' it. '], 'm1');
  print({ ...call, subtype: 'started', tool_call: { editToolCall: { args: input } } });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const success = { path: file, linesAdded: 1, linesRemoved: 0, diffString: `+${text}` };
  print({ ...call, subtype: 'completed', tool_call: { editToolCall: { args: input, result: { success } } } });
  says(['Done.']);
}

function lines(prompt: string): void {
  print({ type: 'system', subtype: 'init', apiKeySource: 'env', cwd: process.cwd(), session_id, model: 'Auto', permissionMode: 'default' });
  print({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: prompt }] }, session_id });
  const [, text, path] = /^write the text (.+) into the file (.+)$/.exec(prompt) ?? [];
  if (text === undefined || path === undefined) says([`You said: ${prompt}`]);
  else if (args.includes('--force')) writes(text, path);
  else says(['I may only read.']);
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 0 };
  print({ type: 'result', subtype: 'success', is_error: false, duration_ms: 1, duration_api_ms: 1, session_id, usage });
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: { readonly outcome?: { readonly optionId?: string; readonly outcome?: string } };
}

function acp(): void {
  const send = (message: object): void => print({ jsonrpc: '2.0', ...message });
  const update = (body: object): void => send({ method: 'session/update', params: { sessionId: session_id, update: body } });
  const answers: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: 1, agentCapabilities: { loadSession: true } },
    'session/new': { sessionId: session_id },
    'session/load': {},
  };
  let prompt: Message['id'];
  createInterface(process.stdin).on('line', (line) => {
    const message: Message = JSON.parse(line);
    if (message.method === 'session/prompt') {
      prompt = message.id;
      const toolCall = { toolCallId: 'tool_1', title: 'make', kind: 'execute', rawInput: { command: 'make' } };
      const options = ['allow-once', 'allow-always', 'reject-once'].map((optionId) => ({
        optionId,
        name: optionId,
        kind: optionId.replace('-', '_'),
      }));
      send({ id: 'permission', method: 'session/request_permission', params: { sessionId: session_id, toolCall, options } });
    } else if (message.id === 'permission') {
      const { outcome } = message.result ?? {};
      const text = `permission: ${outcome?.optionId ?? outcome?.outcome}`;
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
      send({ id: prompt, result: { stopReason: 'end_turn' } });
    } else if (message.id !== undefined) {
      send({ id: message.id, result: answers[message.method ?? ''] ?? {} });
    }
  });
}
