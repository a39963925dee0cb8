import { z } from 'zod';
import { EVENTS } from './event-table.ts';

/** Members of every event. An event that has a `source` of its own replaces this one. */
const base = {
  runId: z.string().describe('The run the event belongs to.'),
  agent: z.string().describe('The coding agent, sidecar or backend that the event is about.'),
  timestamp: z.number().describe('When we read it, in milliseconds since the epoch.'),
  source: z.string().optional().describe('Which channel of the agent it came from.'),
  raw: z.string().optional().describe('The line of the agent as it was, when debugging is on.'),
};

type Table = typeof EVENTS;

/** The `type` of an event. */
export type EventName = keyof Table;

type EventShape<N extends EventName> = { readonly type: z.ZodLiteral<N> } & Omit<typeof base, keyof Table[N]['fields']> &
  Table[N]['fields'];
type EventSchema<N extends EventName> = z.ZodObject<EventShape<N>, z.core.$strict>;

// The keys of a literal object are its names; Object.keys widens them to string.
export const EVENT_NAMES = Object.keys(EVENTS) as [EventName, ...EventName[]];

function schemaOf<N extends EventName>(name: N): EventSchema<N> {
  const row = EVENTS[name];
  const schema = z.strictObject({ type: z.literal(name), ...base, ...row.fields }).describe(row.about);
  // The spread of an indexed row has no precise type; the shape is EventShape<N> by construction.
  return schema as unknown as EventSchema<N>;
}

type AnySchema = { [N in EventName]: EventSchema<N> }[EventName];

// Mapping widens the schemas to one type and the tuple to an array; the table decides what they are, and it is not empty.
const schemas = EVENT_NAMES.map((name) => schemaOf(name)) as unknown as [AnySchema, ...AnySchema[]];

/** One thing that happened in a run, whichever backend it runs on. */
export const AgentEvent = z.discriminatedUnion('type', schemas);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** The members that every event has. */
export type BaseEvent = { readonly type: EventName } & z.infer<z.ZodObject<typeof base>>;

/** The event of one type. */
export type EventOf<N extends EventName> = Extract<AgentEvent, { type: N }>;
