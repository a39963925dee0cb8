import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import { Problems, shown } from '../problems.ts';
import { type Ask, type Folded, LOOKUP, type Reading, type ToolCall, type Turn, type Voice } from '../voice.ts';

const PATH = '/v1/messages';
const STOP_REASONS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
];

/** Anthropic's Messages API, as a caller sees it. */
export const claude: Voice = {
  id: 'claude',
  endings: {
    stop: ['end_turn'],
    length: ['max_tokens'],
    'tool-calls': ['tool_use'],
    'stop-sequence': ['stop_sequence', 'end_turn'],
  },
  overloaded: 529,
  lacks: {},
  credentials: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  ask: (ask) => claude.raw(ask.model, JSON.stringify(requestBody(ask))),
  raw: (_model, body) => ({ method: 'POST', path: PATH, headers: { 'anthropic-version': '2023-06-01' }, body }),
  incomplete: (model) => ({ model, max_tokens: 16 }),
  read,
  fold,
  errorProblems(body, status) {
    const p = new Problems();
    const outer = p.object('the body', body);
    p.is('type', outer.type, 'error');
    const error = p.object('error', outer.error);
    p.text('error.type', error.type);
    p.text('error.message', error.message);
    p.that(status >= 400, `the status should be an error, not ${status}`);
    return p.list;
  },
};

function requestBody({ model, turns, maxTokens = 1024, stream, tools, stop, extra }: Ask): JsonObject {
  return {
    model,
    max_tokens: maxTokens,
    messages: turns.map(message),
    ...(tools ? { tools: [{ name: LOOKUP.name, description: LOOKUP.description, input_schema: LOOKUP.schema }] } : {}),
    ...(stop === undefined ? {} : { stop_sequences: stop }),
    ...(stream ? { stream } : {}),
    ...extra,
  };
}

function message(turn: Turn): JsonObject {
  switch (turn.kind) {
    case 'ask':
      return { role: 'user', content: turn.text };
    case 'answer':
      return { role: 'assistant', content: turn.body.content ?? [] };
    case 'results':
      return {
        role: 'user',
        content: turn.results.map(({ call, text }) => ({ type: 'tool_result', tool_use_id: call.id, content: text })),
      };
  }
}

function read(body: JsonObject): Reading {
  const p = new Problems();
  p.text('id', body.id);
  p.is('type', body.type, 'message');
  p.is('role', body.role, 'assistant');
  p.text('model', body.model);
  p.oneOf('stop_reason', body.stop_reason, STOP_REASONS);
  p.that(body.stop_sequence === null || typeof body.stop_sequence === 'string', 'stop_sequence should be null or a text');
  const usage = p.object('usage', body.usage);
  const cached = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens].map((value) => Number(value ?? 0));
  const tokens = {
    input: cached.reduce((sum, count) => sum + count, p.count('usage.input_tokens', usage.input_tokens)),
    output: p.count('usage.output_tokens', usage.output_tokens),
  };
  const blocks = p.objects('content', body.content);
  const text = blocks.map((block, at) => (block.type === 'text' ? p.anyText(`content[${at}].text`, block.text) : ''));
  const calls = blocks.flatMap((block, at): ToolCall[] => (block.type === 'tool_use' ? [toolCall(p, block, at)] : []));
  for (const [at, block] of blocks.entries()) p.text(`content[${at}].type`, block.type);
  return { text: text.join(''), calls, finish: String(body.stop_reason), tokens, problems: p.list };
}

function toolCall(p: Problems, block: JsonObject, at: number): ToolCall {
  return {
    id: p.text(`content[${at}].id`, block.id),
    name: p.text(`content[${at}].name`, block.name),
    input: p.object(`content[${at}].input`, block.input),
  };
}

/** `message_start`, blocks one after the other, `message_delta`, `message_stop`; a ping may stand anywhere in between. */
function fold(events: readonly SseEvent[]): Folded {
  const stream = new ClaudeStream();
  for (const event of events) stream.push(event);
  return stream.end();
}

const DELTAS: Readonly<Record<string, { field: string; piece: string; block: string }>> = {
  text_delta: { field: 'text', piece: 'text', block: 'text' },
  input_json_delta: { field: 'input', piece: 'partial_json', block: 'tool_use' },
  thinking_delta: { field: 'thinking', piece: 'thinking', block: 'thinking' },
  signature_delta: { field: 'signature', piece: 'signature', block: 'thinking' },
};

class ClaudeStream {
  readonly #p = new Problems();
  readonly #blocks: Record<string, Json>[] = [];
  #message: JsonObject | undefined;
  #delta: JsonObject | undefined;
  #open = false;
  #stopped = false;
  #pieces = 0;

  push({ event, data }: SseEvent): void {
    const p = this.#p;
    const parsed = parseJson(data);
    const value = p.object(`the data of ${event || 'an event'}`, parsed.ok ? parsed.value : data);
    if (value.type !== event) p.fail(`the event should be named as its type ${shown(value.type)}, not ${shown(event)}`);
    if (this.#stopped) p.fail(`nothing may follow message_stop, but ${shown(value.type)} does`);
    if (value.type !== 'ping') this.#take(value);
  }

  #take(value: JsonObject): void {
    const p = this.#p;
    if (this.#message === undefined && value.type !== 'message_start') p.fail(`message_start should come first, not ${shown(value.type)}`);
    switch (value.type) {
      case 'message_start':
        p.that(this.#message === undefined, 'message_start should come once');
        this.#message = p.object('message_start.message', value.message);
        break;
      case 'content_block_start':
        p.that(!this.#open, 'content_block_start should not come before the block before it has stopped');
        p.is('content_block_start.index', value.index, this.#blocks.length);
        this.#blocks.push({ ...p.object('content_block_start.content_block', value.content_block) });
        this.#open = true;
        break;
      case 'content_block_delta':
        this.#grow(value);
        break;
      case 'content_block_stop':
        p.that(this.#open, 'content_block_stop should close an open block');
        p.is('content_block_stop.index', value.index, this.#blocks.length - 1);
        this.#open = false;
        break;
      case 'message_delta':
        p.that(!this.#open, 'message_delta should come after the last block has stopped');
        this.#delta = value;
        break;
      case 'message_stop':
        p.that(this.#delta !== undefined, 'message_delta should come before message_stop');
        this.#stopped = true;
        break;
      default:
        p.fail(`there is no event ${shown(value.type)}`);
    }
  }

  #grow(value: JsonObject): void {
    const p = this.#p;
    this.#pieces += 1;
    p.that(this.#open, 'content_block_delta should come inside an open block');
    p.is('content_block_delta.index', value.index, this.#blocks.length - 1);
    const delta = p.object('content_block_delta.delta', value.delta);
    const block = this.#blocks.at(-1);
    const kind = DELTAS[String(delta.type)];
    if (kind === undefined || block === undefined) return;
    // Server tools have blocks of their own that end in the same words.
    p.that(String(block.type).endsWith(kind.block), `a block with ${delta.type} should be ${kind.block}, not ${shown(block.type)}`);
    const before = block[kind.field];
    block[kind.field] = (typeof before === 'string' ? before : '') + p.anyText(`delta.${kind.piece}`, delta[kind.piece]);
  }

  end(): Folded {
    const p = this.#p;
    p.that(this.#stopped, 'message_stop should end the stream');
    const end = p.object('message_delta.delta', this.#delta?.delta);
    const usage = {
      ...(isJsonObject(this.#message?.usage) ? this.#message.usage : {}),
      ...p.object('message_delta.usage', this.#delta?.usage),
    };
    const body = { ...this.#message, ...end, content: this.#blocks.map(wholeBlock), usage };
    return { body, pieces: this.#pieces, problems: p.list };
  }
}

/** Arguments arrive as text and are an object in the whole answer. */
function wholeBlock(block: Readonly<Record<string, Json>>): JsonObject {
  if (typeof block.input !== 'string') return block;
  const parsed = parseJson(block.input || '{}');
  return parsed.ok ? { ...block, input: parsed.value } : block;
}
