import { z } from 'zod';

/** The events that an operator may have a webhook told of, with the sentence that explains each. */
export const EVENTS = {
  'budget.threshold': '50, 80 or 100 % of a budget are spent',
  'budget.reached': 'a budget is used up: calls are refused, unless it only warns',
  'run.failed': 'a run of a coding agent or a work order failed',
  'turn.failed': 'a turn of an agent failed',
  'engine.down': 'an engine failed so often that its breaker opened',
  'engine.up': 'an engine whose breaker was open answers again',
  'deployment.down': 'one of several deployments of an engine is left alone: it failed, or its key was refused',
  'deployment.up': 'such a deployment gets calls again',
  'approval.requested': 'an agent asks and waits for an answer',
  'approval.answered': 'somebody answered such a question',
} as const satisfies Readonly<Record<string, string>>;
export type WebhookEvent = keyof typeof EVENTS;
const NAMES = Object.keys(EVENTS) as [WebhookEvent, ...WebhookEvent[]]; // there are some

const address = z.url({ protocol: /^https?$/ });

/** A group of events (`budget.*`), or all of them (`*`). */
const GROUPS = ['*', ...new Set(NAMES.map((name) => `${name.split('.')[0]}.*` as const))] as const;

const WebhookConfig = z.strictObject({
  url: address.describe(
    'Gets a POST of JSON for each event (docs/observability.md). The operator names it, so it may be a private address.',
  ),
  secret: z
    .string()
    .min(1)
    .optional()
    .describe('Signs every notice (HMAC-SHA256, headers webhook-id, webhook-timestamp, webhook-signature); unsigned without it.'),
  events: z
    .array(z.enum([...NAMES, ...GROUPS]))
    .min(1)
    .default(['*'])
    .describe(`Which events: ${NAMES.join(', ')}, a group such as budget.*, or *.`),
});
export type WebhookConfig = z.infer<typeof WebhookConfig>;

/** `[webhooks] budgets = "…"`, as it was before there were other events. */
const BudgetsAlone = z.strictObject({ budgets: address.optional() });

export const WebhooksConfig = z.union([z.array(WebhookConfig), BudgetsAlone]).transform((given): WebhookConfig[] => {
  if (Array.isArray(given)) return given;
  return given.budgets === undefined ? [] : [{ url: given.budgets, events: ['budget.threshold'] }];
});

/** Whether the webhook wants to be told of the event. */
export function wants({ events }: Pick<WebhookConfig, 'events'>, event: WebhookEvent): boolean {
  return events.some((one) => one === '*' || one === event || one === `${event.split('.')[0]}.*`);
}
