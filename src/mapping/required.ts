import type { Capability } from '../contract/capability.ts';
import type { CapabilityRequirement, Compatibility } from '../contract/support.ts';
import { isWords } from '../dialects/media-types.ts';
import type { Concept } from '../ir/concept.ts';
import type { DocumentPart, IrPart } from '../ir/part.ts';
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

type Medium = 'image' | 'pdf' | 'audio';

const RULES: readonly (Used & { readonly when: (request: IrRequest, media: ReadonlySet<Medium>) => boolean })[] = [
  {
    capability: 'extended_thinking',
    concept: 'thinking',
    title: 'Extended thinking',
    when: ({ thinking }) => thinking !== undefined && thinking.mode !== 'disabled',
  },
  { capability: 'streaming', concept: 'stream', title: 'Streaming', when: ({ stream }) => stream },
  { capability: 'tool_use', concept: 'tool', title: 'Tool use', when: ({ tools }) => tools.some((tool) => tool.kind !== 'hosted') },
  { capability: 'vision', concept: 'image', title: 'Image input', when: (_request, media) => media.has('image') },
  { capability: 'pdf_input', concept: 'document', title: 'Document input', when: (_request, media) => media.has('pdf') },
  { capability: 'audio', concept: 'audio', title: 'Audio input', when: (_request, media) => media.has('audio') },
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

/** The capability that a hosted tool stands for, where the contract has one. */
export function hostedCapability(kind: HostedToolKind): Capability | undefined {
  return HOSTED[kind]?.capability;
}

/** Capabilities that a request uses beyond text, in a fixed order: the caller hears about the first one that is missing. */
export function requiredCapabilities(request: IrRequest): Used[] {
  const media = mediaOf(request);
  const used: Used[] = RULES.filter((rule) => rule.when(request, media)).map(({ capability, concept, title }) => ({
    capability,
    concept,
    title,
  }));
  for (const tool of request.tools) {
    const hosted = tool.kind === 'hosted' ? HOSTED[tool.hosted] : undefined;
    if (hosted === undefined || used.some(({ capability }) => capability === hosted.capability)) continue;
    used.push(tool.at === undefined ? hosted : { ...hosted, at: tool.at });
  }
  return used;
}

/** Media anywhere in the conversation, in one walk: it may be long, and most of it is text. */
function mediaOf({ messages }: IrRequest): ReadonlySet<Medium> {
  const media = new Set<Medium>();
  // Media that a model made in an earlier answer ask for nothing.
  for (const { role, parts } of messages) if (role !== 'assistant') addMedia(media, parts);
  return media;
}

function addMedia(media: Set<Medium>, parts: readonly IrPart[]): void {
  for (const part of parts) {
    if (part.kind === 'image' || part.kind === 'audio') media.add(part.kind);
    else if (part.kind === 'tool-result') addMedia(media, part.parts);
    else if (part.kind === 'document' && isPdf(part)) media.add('pdf');
  }
}

/** What is words can be told as words. */
function isPdf({ source }: DocumentPart): boolean {
  return !(source.kind === 'base64' && isWords(source.mediaType));
}

/** Requirements that the request implies without saying so: native in strict, approximated at worst otherwise. */
export function impliedRequirements(request: IrRequest, compatibility: Compatibility): CapabilityRequirement[] {
  const minSupport = compatibility === 'strict' ? 'native' : 'emulated';
  return requiredCapabilities(request).map(({ capability }) => ({ capability, min_support: minSupport }));
}
