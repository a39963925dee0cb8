import type { Json, JsonObject } from '../../base/json.ts';
import type { Command, EventDraft, Heard } from '../adapter.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';

/** How one kind of request is put to the caller, and what the agent is told. */
interface Asking {
  event(interactionId: string, params: JsonObject): EventDraft;
  allowed(params: JsonObject): JsonObject;
  refused: JsonObject;
  /** The answer that carries a text, for questions. */
  answered?(params: JsonObject, text: string): JsonObject;
}

const ASKINGS: Readonly<Record<string, Asking>> = {
  'item/commandExecution/requestApproval': {
    event: (interactionId, params) => approval(interactionId, 'shell', textAt(params.command) ?? '', 'high'),
    allowed: () => ({ decision: 'accept' }),
    refused: { decision: 'decline' },
  },
  'item/fileChange/requestApproval': {
    event: (interactionId, params) => approval(interactionId, 'apply_patch', listAt(params.changes).join(', '), 'medium'),
    allowed: () => ({ decision: 'accept' }),
    refused: { decision: 'decline' },
  },
  'item/permissions/requestApproval': {
    event: (interactionId, params) => approval(interactionId, 'permissions', JSON.stringify(params.permissions ?? {}), 'high'),
    allowed: (params) => ({ permissions: params.permissions ?? {}, scope: 'turn' }),
    refused: { permissions: {}, scope: 'turn' },
  },
  'mcpServer/elicitation/request': {
    event: (interactionId, params) => approval(interactionId, textAt(params.serverName) ?? 'mcp', textAt(params.message) ?? '', 'medium'),
    allowed: () => ({ action: 'accept', content: {}, _meta: null }),
    refused: { action: 'decline', content: null, _meta: null },
  },
  'item/tool/requestUserInput': {
    event: (interactionId, params) => question(interactionId, listAt(params.questions).map(objectAt)),
    allowed: () => ({ answers: {} }),
    refused: { answers: {} },
    answered: (params, text) => ({
      answers: Object.fromEntries(listAt(params.questions).map((row) => [textAt(objectAt(row).id) ?? '', { answers: [text] }])),
    }),
  },
};

function approval(interactionId: string, toolName: string, detail: string, riskLevel: 'medium' | 'high'): EventDraft {
  return { type: 'approval_request', interactionId, action: toolName, detail, toolName, riskLevel };
}

function question(interactionId: string, questions: readonly JsonObject[]): EventDraft {
  const text = questions.map((row) => textAt(row.question) ?? '').join('\n');
  const context = questions.flatMap((row) => listAt(row.options).map((option) => textAt(objectAt(option).label) ?? '')).join(', ');
  return { type: 'input_required', interactionId, question: text, source: 'agent', ...(context !== '' && { context }) };
}

/** The item that is asked about is the call. */
function withCall(event: EventDraft, toolCallId: string | undefined): EventDraft {
  return event.type === 'approval_request' && toolCallId !== undefined ? { ...event, toolCallId } : event;
}

interface OpenRequest {
  readonly id: Json;
  readonly params: JsonObject;
  readonly asking: Asking;
}

/** Requests of the agent that wait for the caller. */
export class Approvals {
  readonly #open = new Map<string, OpenRequest>();

  ask(id: Json, method: string, params: JsonObject): Heard {
    const asking = Object.hasOwn(ASKINGS, method) ? ASKINGS[method] : undefined;
    if (asking === undefined) {
      return { events: [], send: [JSON.stringify({ id, error: { code: -32_601, message: `${method} is not served here` } })] };
    }
    const interactionId = `${method}#${id}`;
    this.#open.set(interactionId, { id, params, asking });
    return { events: [withCall(asking.event(interactionId, params), textAt(params.itemId))] };
  }

  /** Undefined when there is no such question. */
  answer(command: Extract<Command, { kind: 'approve' | 'deny' }>): string | undefined {
    const request = this.#take(command.interactionId);
    if (request === undefined) return undefined;
    const { id, params, asking } = request;
    return JSON.stringify({ id, result: command.kind === 'approve' ? asking.allowed(params) : asking.refused });
  }

  /** The answer to the oldest open question with a text; undefined when none is open. */
  tell(text: string): string | undefined {
    const [open] = [...this.#open].filter(([, { asking }]) => asking.answered !== undefined);
    if (open === undefined) return undefined;
    const [interactionId, { id, params, asking }] = open;
    this.#open.delete(interactionId);
    return JSON.stringify({ id, result: asking.answered?.(params, text) ?? {} });
  }

  #take(interactionId: string): OpenRequest | undefined {
    const request = this.#open.get(interactionId);
    this.#open.delete(interactionId);
    return request;
  }
}
