import type { Attributes } from '@opentelemetry/api';
import { findEngine } from '../../engines/index.ts';
import type { CloseFact } from '../../receipts/journal/facts.ts';
import { outcomeOf } from './call-counts.ts';
import { engineStatus, isCall, type SeenRun } from './run-watch.ts';
import type { PlacedToolCall } from './trace-contexts.ts';

/** The version of OpenTelemetry's semantic conventions that names of spans, attributes and metrics follow. */
export const CONVENTIONS = '1.41.0';
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${CONVENTIONS}`;

/** Providers whose name in the conventions is not that of their price list. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  'x-ai': 'x_ai',
  azure: 'azure.ai.openai',
  aws: 'aws.bedrock',
};

/** The operation by the path that was called; a path that no dialect describes is no operation of a model. */
const OPERATIONS: readonly (readonly [RegExp, string])[] = [
  [/count_?tokens/i, 'count_tokens'],
  [/embed/i, 'embeddings'],
  [/generatecontent/i, 'generate_content'],
];

const TURN = /^turn of (.*?)(?: → [^→]*)?$/;

/** A run as a span of the conventions: no contents of conversations, only what was called, by whom, and how it went. */
export interface GenAiSpan {
  readonly name: string;
  readonly operation: string | undefined;
  readonly attributes: Attributes;
  readonly error: string | undefined;
}

export function spanOf(run: SeenRun, end: CloseFact): GenAiSpan {
  const outcome = outcomeOf(end);
  const error =
    outcome === 'completed'
      ? undefined
      : (end.error?.code ?? (outcome === 'cancelled' ? 'cancelled' : String(engineStatus(end) ?? outcome)));
  const { name, operation, attributes } = isCall(run) ? callSpan(run, end) : agentSpan(run);
  const session = run.tags.find((tag) => tag.startsWith('session:'))?.slice('session:'.length);
  return {
    name,
    operation,
    error,
    attributes: {
      ...(operation === undefined ? {} : { 'gen_ai.operation.name': operation }),
      ...attributes,
      ...usageAttributes(end),
      ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
      ...(error === undefined ? {} : { 'error.type': error }),
      'abp.run_id': run.run,
      'abp.plane': run.plane,
      'abp.outcome': outcome,
      ...(run.parent === null ? {} : { 'abp.parent_run_id': run.parent }),
      ...(run.keyId === null ? {} : { 'abp.key_id': run.keyId }),
    },
  };
}

/** A tool call as a span of the conventions: which tool, and how it went. */
export function toolSpanOf({ run, call: { id, name, error, sessionId } }: PlacedToolCall): GenAiSpan {
  const operation = 'execute_tool';
  return {
    name: `${operation} ${name}`,
    operation,
    error,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }),
      ...(error === undefined ? {} : { 'error.type': error }),
      'abp.parent_run_id': run,
    },
  };
}

type Named = Pick<GenAiSpan, 'name' | 'operation' | 'attributes'>;

function callSpan(run: SeenRun, end: CloseFact): Named {
  const { engine, model, dialect, mode, task, plane } = run;
  const isModelCall = plane === 'agent' || dialect !== null;
  const operation = isModelCall ? (OPERATIONS.find(([path]) => plane === 'gateway' && path.test(task))?.[1] ?? 'chat') : undefined;
  const status = engineStatus(end);
  return {
    name: operation === undefined ? task : model === null ? operation : `${operation} ${model}`,
    operation,
    attributes: {
      ...(engine === null ? {} : { 'gen_ai.provider.name': providerOf(engine), 'abp.engine': engine }),
      ...(model === null || !isModelCall ? {} : { 'gen_ai.request.model': model }),
      ...(end.upstreamModel === null ? {} : { 'gen_ai.response.model': end.upstreamModel }),
      ...(dialect === null ? {} : { 'abp.dialect': dialect }),
      ...(mode === null ? {} : { 'abp.mode': mode }),
      ...(status === null ? {} : { 'http.response.status_code': status }),
      ...(end.attempts.length < 2 ? {} : { 'abp.attempts': end.attempts.length }),
    },
  };
}

/** Runs of coding agents and turns of agents: each invokes an agent, and the calls are its children. */
function agentSpan({ backend, task, engine }: SeenRun): Named {
  const id = backend.slice(backend.indexOf(':') + 1);
  const name = TURN.exec(task)?.[1] ?? id;
  const operation = 'invoke_agent';
  return {
    name: `${operation} ${name}`,
    operation,
    attributes: {
      'gen_ai.agent.id': id,
      'gen_ai.agent.name': name,
      ...(engine === null ? {} : { 'gen_ai.provider.name': providerOf(engine), 'abp.engine': engine }),
    },
  };
}

function usageAttributes({ usage }: CloseFact): Attributes {
  if (usage === null) return {};
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    ...(usage.cache_read_tokens === 0 ? {} : { 'gen_ai.usage.cache_read.input_tokens': usage.cache_read_tokens }),
    ...(usage.cache_write_tokens === 0 ? {} : { 'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_tokens }),
  };
}

/** The provider as the conventions call it; an engine without a price list by its own id. */
function providerOf(engine: string): string {
  const prices = findEngine(engine)?.prices ?? engine;
  return PROVIDERS[prices] ?? prices;
}
