import type { Adapter, EventDraft } from '../../../adapters/adapter.ts';
import type { AgentCapabilities, ModelCapabilities } from '../../../contract/runs/coding-agent.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import { textsInPrompt } from '../attachments.ts';
import { asksToThink, thinkingNote } from '../books/settlement.ts';
import type { Prepared } from '../prepare.ts';

type Fallback = Omit<Extract<EventDraft, { type: 'stream_fallback' }>, 'type' | 'source' | 'raw'>;

type Announced = Pick<Prepared, 'traffic' | 'spec' | 'wanted' | 'detected' | 'plan'> & {
  readonly adapter: Pick<Adapter, 'agent' | 'displayName' | 'attachments'>;
};

/** Events that tell the caller about its options before the agent says anything. */
export function announcements(
  { stream }: RunOptions,
  { adapter, traffic, spec, wanted, detected, plan }: Announced,
): readonly EventDraft[] {
  const fallbacks = stream === 'auto' ? streamFallbacks(detected.effective, wanted.model) : [];
  const remarks = [
    ...(detected.untested === undefined ? [] : [`${adapter.displayName}: ${detected.untested}`]),
    ...(traffic.kind === 'direct' ? [`model traffic does not go through the gateway: ${traffic.reason}`] : []),
    ...wanted.notes,
    ...spec.unhonoured.map(({ option, reason }) => `${option} is not honoured: ${reason}`),
  ];
  const thinks = asksToThink({ spec, wanted });
  const level = spec.thinking.by === 'none' ? 'warn' : 'info';
  return [
    ...(thinks ? [{ type: 'debug', level, message: `thinking: ${thinkingNote(spec.thinking)}` } as const] : []),
    ...fallbacks.map((fallback) => ({ type: 'stream_fallback', ...fallback }) as const),
    ...textsInPrompt(adapter, plan.attachments).map(
      (name) => ({ type: 'debug', level: 'info', message: `attachments: the text of ${name} stands in the prompt` }) as const,
    ),
    ...remarks.map((message) => ({ type: 'debug', level: 'warn', message }) as const),
  ];
}

/** Capabilities that cannot be streamed, for callers who let the engine decide: by the agent, or by the model that was chosen. */
function streamFallbacks(effective: AgentCapabilities, model: ModelCapabilities | undefined): readonly Fallback[] {
  const rows = [
    { capability: 'text', field: 'supportsTextStreaming' },
    { capability: 'tool_calls', field: 'supportsToolCallStreaming' },
    { capability: 'thinking', field: 'supportsThinkingStreaming' },
  ] as const;
  return rows.flatMap(({ capability, field }) => {
    const what = `does not stream ${capability.replace('_', ' ')}`;
    if (!effective[field]) return [{ capability, reason: `Agent '${effective.agent}' ${what}` }];
    return model?.[field] === false ? [{ capability, reason: `Model '${model.modelId}' ${what}` }] : [];
  });
}
