import { createInterface } from 'node:readline';
import { print } from './print.ts';

/**
 * Speaks as Hermes does under `hermes acp`: newline JSON-RPC, a question before an edit, and no word about the end of that edit.
 * The prompt `write` makes it want to write a file, `fail` makes it tell a failure as its answer.
 */
if (process.argv.includes('--version')) {
  process.stdout.write('Hermes Agent v0.19.0 (2026.7.20)\n');
  process.exit(0);
}

const sessionId = 'ae2e9ba6-1c00-4f33-99d4-e3c9faf42bb1';

interface RpcLine {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly prompt?: readonly { readonly text?: string }[] };
  readonly result?: { readonly outcome?: { readonly optionId?: string } };
}

const update = (told: object): void => print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: told } });
const say = (text: string): void => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

let prompt = 0;

function end(text: string): void {
  say(text);
  update({ sessionUpdate: 'usage_update', used: 10, size: 200_000 });
  print({ jsonrpc: '2.0', id: prompt, result: { stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } } });
}

function write(): void {
  update({
    sessionUpdate: 'tool_call',
    toolCallId: 'tc-1',
    title: 'write: a.txt',
    kind: 'edit',
    locations: [{ path: 'a.txt' }],
    content: [],
  });
  const toolCall = { toolCallId: 'edit-approval-1', title: 'Approve edit: a.txt', kind: 'edit', rawInput: { tool: 'write_file' } };
  const options = [
    { optionId: 'allow_once', kind: 'allow_once', name: 'Allow edit' },
    { optionId: 'deny', kind: 'reject_once', name: 'Deny' },
  ];
  print({ jsonrpc: '2.0', id: 0, method: 'session/request_permission', params: { sessionId, toolCall, options } });
}

function act(text: string): void {
  if (text === 'write') write();
  else end(text === 'fail' ? 'API call failed after 3 retries: HTTP 429: slow' : `heard: ${text}`);
}

const ANSWERS: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: 1, agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} } } },
  'session/new': { sessionId },
  'session/resume': {},
  'session/set_model': {},
};

for await (const text of createInterface(process.stdin)) {
  const line = JSON.parse(text) as RpcLine;
  if (line.method === 'session/prompt') {
    prompt = line.id ?? 0;
    act(line.params?.prompt?.map((block) => block.text ?? '').join('') ?? '');
  } else if (line.method === undefined) end(line.result?.outcome?.optionId === 'allow_once' ? 'written' : 'not written');
  else print({ jsonrpc: '2.0', id: line.id, result: ANSWERS[line.method] ?? {} });
}
