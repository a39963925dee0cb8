import { z } from 'zod';
import { JsonRecord } from '../../contract/json-value.ts';
import { AGENT_LIMITS } from '../../platform/agents/agent-limits.ts';

const text = z.string();
const time = z.iso.datetime({ offset: true });
const count = z.int().nonnegative();
const page = { limit: z.coerce.number().int().min(1).max(1000).optional(), cursor: text.optional() };

const fields = {
  title: text.min(1).max(500).describe('What people call it.'),
  tags: z.array(text.min(1).max(AGENT_LIMITS.tag)).max(AGENT_LIMITS.tags),
};

const settings = {
  model: text.min(1).max(AGENT_LIMITS.model).nullable().describe('Over the agent’s model, for this session.'),
  max_iterations: z.int().min(1).max(AGENT_LIMITS.iterations).nullable().describe('Model calls of one turn.'),
  max_cost_usd: z.number().min(AGENT_LIMITS.leastCostUsd).max(AGENT_LIMITS.costUsd).nullable().describe('Dollars of the whole session.'),
};

export const NewSession = z.strictObject({
  agent_id: text.describe('The agent to talk to.'),
  title: fields.title.optional(),
  tags: fields.tags.optional(),
  model: settings.model.default(null),
  max_iterations: settings.max_iterations.default(null),
  max_cost_usd: settings.max_cost_usd.default(null),
});
export type NewSession = z.output<typeof NewSession>;

export const SessionPatch = z.strictObject({ title: fields.title.nullable(), tags: fields.tags, ...settings }).partial();

const SessionStatus = z.enum(['idle', 'active', 'waiting']);

export const SessionView = z.strictObject({
  id: text,
  agent_id: text,
  title: text.nullable(),
  tags: z.array(text),
  status: SessionStatus.describe('waiting: a call waits for an approval.'),
  model: text.nullable(),
  max_iterations: z.int().nullable(),
  max_cost_usd: z.number().nullable(),
  turn_id: text.nullable().describe('The turn that has not ended.'),
  last_sequence: count.describe('Number of the last event.'),
  usage: z.strictObject({ input_tokens: count, output_tokens: count, cost_nano_usd: count }),
  forked_from_session_id: text.nullable(),
  forked_from_sequence: count.nullable(),
  created_at: time,
  updated_at: time,
});

export const SessionParams = z.strictObject({ id: text });
export const SessionListQuery = z.strictObject({
  agent_id: text.optional(),
  status: SessionStatus.optional(),
  tag: text.optional(),
  ...page,
});
export const SessionList = z.strictObject({ items: z.array(SessionView), next_cursor: text.optional() });

const InputPart = z.union([
  z.strictObject({ type: z.literal('text'), text: text.min(1) }),
  z.strictObject({ type: z.literal('image'), url: z.url({ protocol: /^https?$/ }) }),
  z.strictObject({ type: z.literal('image'), base64: z.base64().min(1), media_type: text.regex(/^image\/[\w.+-]+$/) }),
]);
export type InputPart = z.output<typeof InputPart>;

const Content = z.union([text.min(1), z.array(InputPart).min(1).max(100)]).describe('Text, or parts of text and images.');
export type Content = z.output<typeof Content>;

export const NewMessage = z.strictObject({
  message: z.strictObject({ role: z.literal('user').optional(), content: Content, metadata: JsonRecord.optional() }),
});

export const MessageView = z.strictObject({
  id: text,
  role: z.enum(['user', 'agent', 'tool_result']),
  content: z.array(JsonRecord).describe('Parts: text, image, thinking, refusal, tool_call, tool_result.'),
  metadata: JsonRecord.optional(),
  session_id: text,
  turn_id: text.nullable(),
  run_id: text.nullable().describe('The run of the turn; its receipt says what the turn came to.'),
  sequence: count,
  created_at: time,
});
export const MessageList = z.strictObject({ items: z.array(MessageView), next_cursor: text.optional() });
export const MessageListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  cursor: text.regex(/^\d{1,15}$/, 'is not a cursor of this list').optional(),
});

export const EventListQuery = z.strictObject({
  since_id: text.optional().describe('Id of an event; later ones are sent. Last-Event-ID says the same.'),
  limit: z.coerce.number().int().min(1).max(1000).default(200).describe('Of a list; a stream has none.'),
});
const EventView = z.strictObject({
  id: text,
  type: text,
  ts: time,
  session_id: text,
  sequence: count,
  context: z.strictObject({ turn_id: text.optional(), run_id: text.nullable().optional() }),
  data: JsonRecord,
});
export const EventList = z.strictObject({ items: z.array(EventView) });

export const CancelRequest = z.strictObject({ reason: text.min(1).max(500).default('Cancelled by the user.') });
export const CancelView = z.strictObject({ session_id: text, turn_id: text, status: z.literal('cancelled') });

export const ForkRequest = z.strictObject({
  event_id: text.optional().describe('The last event to take along; the fork begins where the session was last at rest before it.'),
  title: fields.title.optional(),
});

export const ApprovalParams = z.strictObject({ id: text, approval_id: text });
export const ApprovalAnswer = z.strictObject({
  decision: z.enum(['approve', 'deny']).describe('An approved call is made exactly as it stood in the question.'),
  note: text.max(2000).optional().describe('For the model, when the call is denied.'),
});
export const ApprovalView = z.strictObject({
  id: text,
  session_id: text,
  turn_id: text.nullable(),
  reason: z.enum(['policy', 'interrupted']).describe('interrupted: a crash left open whether the call had an effect.'),
  tool_call: z.strictObject({ id: text, name: text, arguments: text }),
  status: z.enum(['pending', 'approved', 'denied']),
});
export const ApprovalList = z.strictObject({ items: z.array(ApprovalView) });
