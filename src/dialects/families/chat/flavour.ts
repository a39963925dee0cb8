import type { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import type { Concept } from '../../../ir/concept.ts';
import type { IrRequest } from '../../../ir/request.ts';
import type { IrErrorKind } from '../../../ir/response.ts';
import type { Dialect, FateNote, LowerContext } from '../../dialect.ts';
import type { Request } from './wire.ts';

/** How a vendor says one kind of failure. */
export interface ErrorWords {
  readonly status: number;
  readonly type?: string;
  readonly code?: string;
  /** The vendor's own sentence, put before the engine's unless that already says it; agents match on it. */
  readonly phrase?: string;
}

/** Traits in which one member of the Chat family differs from the others. */
export interface ChatFlavour {
  readonly id: string;
  readonly names: Dialect['names'];
  /** Path of the engine. */
  readonly path: string;
  readonly request: z.ZodType<Request>;
  /** Body members that only this vendor has, by what they mean. */
  readonly members: Readonly<Record<string, Concept>>;
  /** Values of those members, as JSON text, that say what absence says. */
  readonly defaults: Readonly<Record<string, string>>;
  /** The members of messages that only this vendor has. */
  readonly messageMembers: Readonly<Record<string, Concept>>;
  /** Where an answer's reasoning may stand; the first one present is read. */
  readonly reasoning: readonly string[];
  /** The name under which reasoning is written; absent where the wire has none. */
  readonly reasoningField?: string;
  /** Opaque members of assistant messages that come back as they were. */
  readonly state: readonly string[];
  /** Reasoning is taken back only with the state it came with. */
  readonly sealed: boolean;
  /** The opaque text member that carries what another engine must get back. */
  readonly carrier?: string;
  /** Reasoning of other engines is told in `reasoning_details`, and state of their calls in `extra_content`. */
  readonly details: boolean;
  /** `partial` on the last assistant message makes it a prefill. */
  readonly prefill: boolean;
  readonly media: ReadonlySet<string>;
  /** `tool_choice` may name several tools. */
  readonly allowedTools: boolean;
  readonly maxTokens: 'max_completion_tokens' | 'max_tokens';
  readonly endUser?: string;
  readonly serviceTiers: Readonly<Record<string, string>>;
  /** Where a stream tells its usage: in a chunk of its own when asked, in the finishing choice, or in the finishing chunk. */
  readonly usage: 'own-chunk' | 'choice' | 'finishing-chunk';
  /** Reasoning parameters of the request. */
  lowerReasoning(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject;
  /** Whether the model refuses a call in the history that has no reasoning beside it. */
  needsReasoning(request: IrRequest, context: LowerContext): boolean;
  headers(request: IrRequest): Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<IrErrorKind, ErrorWords>>;
  /** The vendor's sentence for a prompt that is too long. */
  contextLength(limit: number, asked: number): string;
  /** The same without numbers. */
  readonly contextPhrase: string;
  /** Members every error body of the vendor has. */
  readonly errorMembers: JsonObject;
}
