import type { JsonObject } from '../base/json.ts';
import type { TokenLogprob } from './logprob.ts';

/**
 * Vendor data without a neutral meaning (signatures, encrypted reasoning, cache marks), by dialect id. It comes back
 * untouched to the dialect that owns it and is never shown to another.
 */
export type VendorMeta = Readonly<Record<string, JsonObject>>;

interface PartBase {
  /** Path in the caller's body this part came from; fidelity records name it. */
  readonly at?: string;
  readonly meta?: VendorMeta;
}

/** Where the bytes of a medium are. `file` ids belong to the vendor that issued them. */
export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'file'; readonly fileId: string; readonly mediaType?: string };

export interface TextPart extends PartBase {
  readonly kind: 'text';
  readonly text: string;
  /** The tokens of an answer's text, where the caller asked for them. */
  readonly logprobs?: readonly TokenLogprob[];
  /** Sources of an answer's text; those of a history stay with the dialect that wrote them. */
  readonly citations?: readonly Citation[];
}

export interface ImagePart extends PartBase {
  readonly kind: 'image';
  readonly source: MediaSource;
  readonly detail?: string;
}

export interface DocumentPart extends PartBase {
  readonly kind: 'document';
  readonly source: MediaSource;
  readonly title?: string;
  readonly context?: string;
  /** The caller wants citations into this document. */
  readonly citations?: boolean;
}

export interface AudioPart extends PartBase {
  readonly kind: 'audio';
  readonly source: MediaSource;
}

export interface VideoPart extends PartBase {
  readonly kind: 'video';
  readonly source: MediaSource;
}

/** Reasoning of the model. Redacted reasoning has no text; its payload is in `meta`. */
export interface ThinkingPart extends PartBase {
  readonly kind: 'thinking';
  readonly text: string;
  readonly redacted?: boolean;
}

export interface ToolCallPart extends PartBase {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON text of the arguments object, as the vendor wrote it where it did; free text for a custom tool. */
  readonly arguments: string;
  readonly custom?: boolean;
}

export interface ToolResultPart extends PartBase {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly name?: string;
  readonly parts: readonly IrPart[];
  readonly isError: boolean;
}

interface RefusalPart extends PartBase {
  readonly kind: 'refusal';
  readonly text: string;
}

/** A vendor's block that only its owner understands: hosted tool calls and their results. The whole block is in `meta`. */
export interface VendorPart extends PartBase {
  readonly kind: 'vendor';
  readonly dialect: string;
  readonly type: string;
  /** Text that streamed into the block after it opened. */
  readonly text?: string;
  /** Set on the result of a call that only its owner could make; the caller brings it back. */
  readonly result?: true;
}

export type IrPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | VideoPart
  | ThinkingPart
  | ToolCallPart
  | ToolResultPart
  | RefusalPart
  | VendorPart;

/** A page on the web that a piece of an answer rests on. The place is in UTF-16 units of the text of its part. */
export interface Citation {
  readonly url: string;
  readonly title?: string;
  /** The words of the page, where the engine tells them. */
  readonly quote?: string;
  readonly start: number;
  readonly end: number;
}
