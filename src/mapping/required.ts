import type { Capability } from '../contract/capability.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrPart } from '../ir/part.ts';
import type { HostedToolKind, IrRequest } from '../ir/request.ts';

/** A capability that a request uses, with the word that begins a sentence about it. */
export interface Used {
  readonly capability: Capability;
  /** The field that asks for it. */
  readonly concept: Concept;
  readonly title: string;
  /** Where it asks, when fields of the same meaning may ask for other things. */
  readonly at?: string;
}

const HOSTED: Readonly<Partial<Record<HostedToolKind, Used>>> = {
  web_search: { capability: 'tool_web_search', concept: 'hosted_tool', title: 'Web search' },
  web_fetch: { capability: 'tool_web_fetch', concept: 'hosted_tool', title: 'Web fetch' },
  code_execution: { capability: 'code_execution', concept: 'hosted_tool', title: 'Code execution' },
};

const RULES: readonly (Used & { readonly when: (request: IrRequest) => boolean })[] = [
  {
    capability: 'extended_thinking',
    concept: 'thinking',
    title: 'Extended thinking',
    when: ({ thinking }) => thinking !== undefined && thinking.mode !== 'disabled',
  },
  { capability: 'streaming', concept: 'stream', title: 'Streaming', when: ({ stream }) => stream },
  { capability: 'tool_use', concept: 'tool', title: 'Tool use', when: ({ tools }) => tools.some((tool) => tool.kind !== 'hosted') },
  { capability: 'vision', concept: 'image', title: 'Image input', when: (request) => anyPart(request, (part) => part.kind === 'image') },
  { capability: 'pdf_input', concept: 'document', title: 'Document input', when: (request) => anyPart(request, isPdf) },
  { capability: 'audio', concept: 'audio', title: 'Audio input', when: (request) => anyPart(request, (part) => part.kind === 'audio') },
  { capability: 'json_mode', concept: 'json_mode', title: 'JSON mode', when: ({ output }) => output?.kind === 'json' },
  {
    capability: 'structured_output_json_schema',
    concept: 'json_schema',
    title: 'Structured output',
    when: ({ output }) => output?.kind === 'json-schema',
  },
  {
    capability: 'logprobs',
    concept: 'logprobs',
    title: 'Logprobs',
    when: ({ sampling }) => sampling.logprobs === true || sampling.topLogprobs !== undefined,
  },
  { capability: 'seed_determinism', concept: 'seed', title: 'Seed', when: ({ sampling }) => sampling.seed !== undefined },
  {
    capability: 'frequency_penalty',
    concept: 'frequency_penalty',
    title: 'Frequency penalty',
    when: ({ sampling }) => sampling.frequencyPenalty !== undefined,
  },
  {
    capability: 'presence_penalty',
    concept: 'presence_penalty',
    title: 'Presence penalty',
    when: ({ sampling }) => sampling.presencePenalty !== undefined,
  },
  { capability: 'top_k', concept: 'top_k', title: 'Top-k sampling', when: ({ sampling }) => sampling.topK !== undefined },
  { capability: 'stop_sequences', concept: 'stop_sequences', title: 'Stop sequences', when: ({ stop }) => stop.length > 0 },
];

/** What a request asks of an engine beyond text, in a fixed order: the first one missing is the one the caller hears about. */
export function requiredCapabilities(request: IrRequest): Used[] {
  const used: Used[] = RULES.filter((rule) => rule.when(request)).map(({ capability, concept, title }) => ({ capability, concept, title }));
  for (const tool of request.tools) {
    const hosted = tool.kind === 'hosted' ? HOSTED[tool.hosted] : undefined;
    if (hosted === undefined || used.some(({ capability }) => capability === hosted.capability)) continue;
    used.push(tool.at === undefined ? hosted : { ...hosted, at: tool.at });
  }
  return used;
}

function anyPart(request: IrRequest, test: (part: IrPart) => boolean): boolean {
  return request.messages.some((message) =>
    message.parts.some((part) => test(part) || (part.kind === 'tool-result' && part.parts.some(test))),
  );
}

function isPdf(part: IrPart): boolean {
  return part.kind === 'document' && !(part.source.kind === 'base64' && part.source.mediaType === 'text/plain');
}
