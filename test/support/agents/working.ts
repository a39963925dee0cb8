import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { print } from './print.ts';
import { type ScriptedWork, scriptFor, type WorkStep } from './work-script.ts';

/**
 * Speaks as Claude Code does in its stream-json form and does real work: before every step it calls the model, then it reads, writes and
 * edits files of its folder and runs commands there. The prompt names the script (`work-script.ts`); steps that need a permission ask for it.
 */
if (process.argv.includes('--version')) {
  process.stdout.write('2.1.325 (Claude Code)\n');
  process.exit(0);
}

const { ANTHROPIC_BASE_URL = '', ANTHROPIC_AUTH_TOKEN = '' } = process.env;
const session_id = '11111111-2222-4333-8444-555555555555';
const asksFirst = !process.argv.includes('bypassPermissions') && !process.argv.includes('--dangerously-skip-permissions');

const SYSTEM = `You are a careful engineer who works in small steps. ${'Read before you write, and run the tests after every change. '.repeat(40)}`;
const messages: object[] = [];

/** One real call through the gateway, with the hints that another vendor cannot take. */
async function callModel(said: string): Promise<{ text: string; usage: object; model: string }> {
  messages.push({ role: 'user', content: `Wait 60 ms. Say exactly: "${said}"` });
  const response = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', authorization: `Bearer ${ANTHROPIC_AUTH_TOKEN}` },
    body: JSON.stringify({
      model: 'gemini-2.5-pro',
      max_tokens: 4000,
      system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }],
      metadata: { user_id: 'u_4812' },
      tools: [{ name: 'Bash', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }],
      messages,
    }),
  });
  const body = (await response.json()) as { content?: { text?: string }[]; usage?: object; model?: string; error?: { message: string } };
  const text = body.content?.map((block) => block.text ?? '').join('') ?? body.error?.message ?? '';
  messages.push({ role: 'assistant', content: text || 'done' });
  return { text, usage: body.usage ?? {}, model: body.model ?? '' };
}

let many = 0;
const nextId = (kind: string): string => {
  many += 1;
  return `${kind}_${many}`;
};

function say(content: object, usage: object): void {
  print({ type: 'assistant', session_id, message: { id: nextId('msg'), role: 'assistant', content: [content], usage } });
}

interface Done {
  readonly text: string;
  readonly failed: boolean;
  readonly details: object;
}

function replaced(path: string, before: string, after: string): Done {
  const text = readFileSync(path, 'utf8');
  const at = text.slice(0, text.indexOf(before)).split('\n').length;
  writeFileSync(path, text.replace(before, after));
  const lines = [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)];
  const sizes = { oldStart: at, oldLines: before.split('\n').length, newStart: at, newLines: after.split('\n').length };
  return { text: `The file ${path} has been updated.`, failed: false, details: { filePath: path, structuredPatch: [{ ...sizes, lines }] } };
}

function ran(command: string): Done {
  try {
    return { text: execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' }), failed: false, details: {} };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }; // what execFileSync throws
    return { text: `Exit code ${status}\n${stdout}${stderr}`, failed: true, details: {} };
  }
}

function used({ tool, input = {} }: WorkStep): Done {
  const path = input.file_path ?? '';
  if (tool === 'Read') return { text: readFileSync(path, 'utf8'), failed: false, details: {} };
  if (tool === 'Edit') return replaced(path, input.old_string ?? '', input.new_string ?? '');
  if (tool === 'Bash') return ran(input.command ?? '');
  writeFileSync(path, input.content ?? '');
  return { text: `File created successfully at: ${path}`, failed: false, details: { type: 'create', filePath: path } };
}

const lines = createInterface(process.stdin)[Symbol.asyncIterator]();

interface ClaudeLine {
  readonly type: string;
  readonly message?: { readonly content: string | readonly { readonly text?: string }[] };
  readonly response?: { readonly response?: { readonly behavior?: string; readonly message?: string } };
}

async function next(type: string): Promise<ClaudeLine> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done === true) process.exit(0);
    const line = JSON.parse(value) as ClaudeLine;
    if (line.type === type) return line;
  }
}

/** Undefined where nobody is asked or the answer was yes; else why not. */
async function refusal(step: WorkStep, toolUseId: string): Promise<string | undefined> {
  if (!asksFirst || step.asks !== true) return undefined;
  const request = { subtype: 'can_use_tool', tool_name: step.tool, tool_use_id: toolUseId, input: step.input };
  print({ type: 'control_request', request_id: nextId('req'), request });
  const { response } = await next('control_response');
  return response?.response?.behavior === 'allow' ? undefined : (response?.response?.message ?? 'denied');
}

async function work(script: ScriptedWork): Promise<void> {
  let last = '';
  for (const step of script) {
    const { text, usage } = await callModel(step.says);
    last = text;
    if (step.thinks !== undefined) say({ type: 'thinking', thinking: step.thinks, signature: 'c2ln' }, usage);
    say({ type: 'text', text }, usage);
    if (step.tool === undefined) continue;
    const id = nextId('toolu');
    say({ type: 'tool_use', id, name: step.tool, input: step.input }, usage);
    const denied = await refusal(step, id);
    const done = denied === undefined ? used(step) : { text: denied, failed: true, details: {} };
    const content = [{ type: 'tool_result', tool_use_id: id, content: done.text, is_error: done.failed }];
    print({ type: 'user', session_id, message: { role: 'user', content }, tool_use_result: done.details });
  }
  const usage = { input_tokens: 240, output_tokens: 14 };
  const sums = { num_turns: script.length, total_cost_usd: 0.01, usage };
  print({ type: 'result', subtype: 'success', is_error: false, result: last, session_id, ...sums });
}

print({ type: 'system', subtype: 'init', session_id, tools: ['Bash', 'Edit', 'Read', 'Write'], mcp_servers: [], model: 'claude-x' });
for (;;) {
  const { message } = await next('user');
  const content = message?.content ?? '';
  await work(scriptFor(typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')));
}
