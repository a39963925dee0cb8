import type { JsonObject } from '../../base/json.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { InteractionAnswer } from '../../runtime/runs/handle.ts';
import type { Context } from '../command.ts';
import type { RunAsked } from './asked.ts';

/** A run as the command line sees it, wherever it runs. */
export interface RunSource {
  readonly runId: string;
  /** Every event in its order. */
  readonly events: AsyncIterable<AgentEvent>;
  /** Its result; there once the events have ended. */
  result(): Promise<JsonObject>;
  answer(interactionId: string, answer: InteractionAnswer): Promise<void>;
  cancel(): Promise<void>;
  /** After the result: closes what was opened for it. */
  close(): Promise<void>;
}

/** Runs in this process, with a gateway of its own while it lasts; for a home without a server. */
export async function insideRun(context: Context, asked: RunAsked): Promise<RunSource | undefined> {
  const { openGateway } = await import('./gateway.ts');
  const gateway = await openGateway(context);
  if (gateway.inside === undefined) {
    await gateway.close();
    return undefined;
  }
  try {
    return { ...(await runIn(gateway.inside, asked)), close: () => gateway.close() };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** A run of a server that is in this process, started as one that came over HTTP. */
export async function runIn(gateway: Gateway, asked: RunAsked): Promise<Omit<RunSource, 'close'>> {
  const { runServiceOf } = await import('../../gateway/run-plane/runs.ts');
  const service = await runServiceOf(gateway);
  const runId = await asked.inside(gateway);
  const live = service.live(runId);
  return {
    runId,
    events: flattened(service.events(runId, 0, new AbortController().signal)),
    result: async () => (await service.result(runId)) ?? {},
    answer: async (id, answer) => live?.handle.interaction.respond(id, { ...answer, by: 'the person at the terminal' }),
    cancel: async () => await live?.handle.abort(),
  };
}

async function* flattened(pages: AsyncIterable<readonly { readonly event: AgentEvent }[]>): AsyncGenerator<AgentEvent> {
  for await (const page of pages) for (const { event } of page) yield event;
}
