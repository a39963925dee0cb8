import type { Json, JsonObject } from '../base/json.ts';
import type { IrConversation } from './conversation.ts';
import type { VendorMeta } from './part.ts';

/** A tool the caller runs. `schema` is JSON Schema. */
export interface IrFunctionTool {
  readonly kind: 'function';
  readonly name: string;
  readonly description?: string;
  readonly schema: JsonObject;
  readonly strict?: boolean;
  /** Where the caller says so, if not in the declaration itself. */
  readonly strictAt?: string;
  readonly at?: string;
  readonly meta?: VendorMeta;
}

/** A tool that takes free text instead of JSON. */
export interface IrCustomTool {
  readonly kind: 'custom';
  readonly name: string;
  readonly description?: string;
  readonly format?: JsonObject;
  readonly at?: string;
  readonly meta?: VendorMeta;
}

/** Hosted tools that several vendors have in some form; everything else is a vendor's own. */
export type HostedToolKind = 'web_search' | 'web_fetch' | 'code_execution' | 'mcp' | 'vendor';

/** Limits that a caller sets to a hosted search or fetch. */
export type HostedLimit = 'allowedDomains' | 'blockedDomains' | 'userLocation' | 'maxUses';

/** The limits that were set, each with its place in the caller's body. A location is flat: city, region, country, timezone. */
export type HostedLimits = Readonly<Partial<Record<HostedLimit, { readonly value: Json; readonly at: string }>>>;

/** A tool the engine runs. The vendor's whole declaration is in `meta`. */
export interface IrHostedTool {
  readonly kind: 'hosted';
  readonly hosted: HostedToolKind;
  readonly name: string;
  readonly limits?: HostedLimits;
  readonly at?: string;
  readonly meta: VendorMeta;
}

export type IrTool = IrFunctionTool | IrCustomTool | IrHostedTool;

export type IrToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'allowed'; readonly names: readonly string[]; readonly mode: 'auto' | 'required' };

/** The shape that the caller wants the answer to have. `json` is JSON mode without a schema. */
export type IrOutputFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json-schema';
      readonly schema: JsonObject;
      readonly name?: string;
      readonly description?: string;
      readonly strict?: boolean;
      /** The schema is a choice of texts, and the caller wants the text without the quotes of JSON. */
      readonly bare?: true;
      readonly meta?: VendorMeta;
    };

/** Claude's extended thinking and its likes: the reasoning comes back as content. */
export interface IrThinking {
  readonly mode: 'enabled' | 'adaptive' | 'disabled';
  readonly budgetTokens?: number;
  /** `omitted` = the caller wants the state of the reasoning, not its text. */
  readonly display?: string;
}

export type IrEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface IrSampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly logitBias?: JsonObject;
  /** How many answers. */
  readonly count?: number;
  readonly logprobs?: boolean;
  readonly topLogprobs?: number;
}

/** A request to a model in neutral words. Absent means the caller did not say. */
export interface IrRequest extends IrConversation {
  readonly model: string;
  readonly stream: boolean;
  readonly tools: readonly IrTool[];
  readonly toolChoice?: IrToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly maxTokens?: number;
  readonly stop: readonly string[];
  readonly sampling: IrSampling;
  readonly output?: IrOutputFormat;
  readonly thinking?: IrThinking;
  readonly effort?: IrEffort;
  readonly verbosity?: string;
  /** Identifies the caller's end user to the vendor. */
  readonly endUser?: string;
  readonly serviceTier?: string;
  /** The stream must end with usage (Chat's `stream_options.include_usage`). */
  readonly includeUsage?: boolean;
  /** Body members that only the owner understands, by dialect and member name. */
  readonly vendor: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}
