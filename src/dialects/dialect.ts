import type { Json, JsonObject } from '../base/json.ts';
import type { SseEvent } from '../base/sse.ts';
import type { Fate } from '../contract/negotiation.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrEvent } from '../ir/event.ts';
import type { Ledger } from '../ir/ledger.ts';
import type { IrRequest } from '../ir/request.ts';
import type { FinishReason, IrError, IrResponse } from '../ir/response.ts';
import type { IrUsage } from '../ir/usage.ts';

/** What a vendor path does. */
export type Operation = 'generate' | 'count-tokens' | 'models' | 'embeddings';

/** A path of the dialect. `{model}` matches one segment; a fixed `stream` says the path decides, not the body. */
export interface VendorPath {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly stream?: boolean;
}

/** What the address of a call says beyond its body. */
export interface LiftContext {
  readonly ledger: Ledger;
  readonly model?: string;
  readonly stream?: boolean;
}

/** A field of the request that did not arrive as it was; `at` limits the note to the leaves below that path. */
export interface FateNote {
  readonly concept: Concept;
  readonly fate: Exclude<Fate, 'exact' | 'renamed'>;
  readonly note: string;
  readonly at?: string;
}

/** What the target model can take; the engine's data says so. */
export interface LowerContext {
  readonly traits: ReadonlySet<string>;
}

/** A request in the engine's own words. */
export interface LoweredRequest {
  readonly path: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: readonly FateNote[];
}

/** Ids of a mapped answer derive from the run, so they never repeat inside a conversation. */
export interface AnswerContext {
  readonly runHex: string;
  readonly createdAtMs: number;
  readonly model: string;
  readonly includeUsage: boolean;
}

export interface Stepper {
  /** IR events of one event of the engine. */
  step(event: SseEvent): IrEvent[];
  /** The engine closed the stream. */
  end(): IrEvent[];
}

export interface Emitter {
  /** Wire text of one IR event, framing included. */
  emit(event: IrEvent): string;
}

/** What is known of an answer from its bytes alone. */
export interface Observed {
  readonly model?: string;
  readonly usage?: IrUsage;
  readonly finish?: FinishReason;
  readonly toolCalls: readonly ObservedToolCall[];
  readonly error?: string;
}

export interface ObservedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
}

/** Watches a stream go by; frames that cannot matter are skipped unread. */
export interface StreamObserver {
  frame(frame: Buffer): void;
  done(): Observed;
}

/** An error as the dialect's SDKs read it. */
export interface WireError {
  readonly status: number;
  readonly body: JsonObject;
}

/** A vendor wire format a caller speaks. Pure: shapes only, no addresses, no keys. */
export interface Dialect {
  readonly id: string;
  /** The family name that error details carry. */
  readonly style: string;
  readonly aliases: readonly string[];
  readonly paths: readonly VendorPath[];
  /** Content type of a streamed answer. */
  readonly streamType: string;
  /** What this dialect calls each concept: differing names make a leaf `renamed`. */
  readonly names: Readonly<Partial<Record<Concept, string>>>;
  liftRequest(body: Json, context: LiftContext): IrRequest;
  lowerRequest(request: IrRequest, context: LowerContext): LoweredRequest;
  liftResponse(body: Json): IrResponse;
  lowerResponse(response: IrResponse, context: AnswerContext): JsonObject;
  stepper(): Stepper;
  emitter(context: AnswerContext): Emitter;
  /** Body of a token count in this dialect. */
  tokenCount(count: number): JsonObject;
  /** The engine's error in neutral words. */
  liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError;
  /** An engine's error as this dialect's vendor would word it. */
  lowerError(error: IrError, context: { readonly requestId: string }): WireError;
  /** Puts our own error body inside the outer members that this dialect's SDKs need. */
  wrapError(body: JsonObject, status: number): JsonObject;
  observeStream(): StreamObserver;
  observeBody(body: string): Observed;
}
