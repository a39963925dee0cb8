import { canonicalText, sha256 } from '../../../base/canonical-json.ts';
import type { Json } from '../../../base/json.ts';
import type { ToolCallRecord } from '../../../contract/receipts/parts.ts';
import type { AgentEvent, EventOf } from '../../../contract/runs/event.ts';
import type { CostRecord } from '../../../contract/runs/event-table.ts';
import type { RunTokenUsage } from '../../../contract/runs/run-result.ts';

/** Counts and texts of a run so far, read from its events. */
export class Tally {
  sessionId: string | null = null;
  turnCount = 0;
  /** Events that were told, which are those that are kept. */
  eventCount = 0;
  /** The cost that the agent itself tells. */
  cost: CostRecord | null = null;
  /** The agent has said or done something: trying again from the start would do it twice. */
  acted = false;
  readonly #messages: string[] = [];
  #open = '';
  readonly #usage = { input: 0, output: 0, thinking: 0, cached: 0 };
  readonly #toolCalls = new Map<string, ToolCallRecord>();

  add(event: AgentEvent): void {
    switch (event.type) {
      case 'session_start':
      case 'session_resume':
      case 'session_fork':
        this.sessionId = event.sessionId;
        break;
      case 'turn_start':
        this.turnCount += 1;
        break;
      case 'cost':
        this.cost = event.cost;
        break;
      case 'token_usage':
        this.#addUsage(event);
        break;
      default:
        this.#addWords(event);
    }
  }

  get text(): string {
    return [...this.#messages, ...(this.#open === '' ? [] : [this.#open])].join('\n\n');
  }

  get tokenUsage(): RunTokenUsage {
    const { input, output, thinking, cached } = this.#usage;
    const { cost } = this;
    if (input + output > 0 || cost === null) return { input, output, thinking, cached, total: input + output };
    const total = cost.inputTokens + cost.outputTokens;
    const cacheTokens = cost.cachedTokens ?? cost.cacheReadTokens ?? 0;
    return { input: cost.inputTokens, output: cost.outputTokens, thinking: cost.thinkingTokens ?? 0, cached: cacheTokens, total };
  }

  get toolCalls(): readonly ToolCallRecord[] {
    return [...this.#toolCalls.values()];
  }

  #addUsage(event: EventOf<'token_usage'>): void {
    this.#usage.input += event.inputTokens;
    this.#usage.output += event.outputTokens;
    this.#usage.thinking += event.thinkingTokens ?? 0;
    this.#usage.cached += event.cachedTokens ?? 0;
  }

  #addWords(event: AgentEvent): void {
    switch (event.type) {
      case 'text_delta':
        this.acted = true;
        this.#open = event.accumulated ?? this.#open + event.delta;
        break;
      case 'message_stop':
        this.acted = true;
        if (event.text !== '') this.#messages.push(event.text);
        this.#open = '';
        break;
      case 'tool_call_start':
        this.#setCall(event.toolCallId, event.toolName, null);
        break;
      case 'tool_call_ready':
        this.#setCall(event.toolCallId, event.toolName, event.input);
        break;
      case 'tool_result':
        this.#setResult(event.toolCallId, event.toolName, event.output);
        break;
      case 'tool_error':
        this.#setResult(event.toolCallId, event.toolName, event.error);
        break;
    }
  }

  #setCall(id: string, name: string, input: Json): void {
    this.acted = true;
    this.#toolCalls.set(id, { id, name, arguments_sha256: sha256(canonicalText(input)), result_sha256: null });
  }

  #setResult(id: string, name: string, output: Json): void {
    const known = this.#toolCalls.get(id) ?? { id, name, arguments_sha256: sha256(canonicalText(null)), result_sha256: null };
    this.#toolCalls.set(id, { ...known, result_sha256: sha256(typeof output === 'string' ? output : canonicalText(output)) });
  }
}
