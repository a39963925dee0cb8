import type { Json, JsonObject } from '../base/json.ts';
import type { SseEvent } from '../base/sse.ts';
import type { FateCode } from '../contract/fate-codes.ts';
import type { Fate } from '../contract/negotiation.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrEvent } from '../ir/event.ts';
import type { Ledger } from '../ir/ledger.ts';
import type { IrRequest } from '../ir/request.ts';
import type { FinishReason, IrError, IrResponse } from '../ir/response.ts';
import type { IrUsage } from '../ir/usage.ts';
import type { AnswerShape } from './answer-shape.ts';
import type { StrictSubset } from './strict-subset.ts';

type Operation = 'generate' | 'count-tokens' | 'models' | 'embeddings';

/** A path of the dialect. `{model}` matches one segment; a fixed `stream` says the path decides, not the body. */
export interface VendorPath {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly stream?: boolean;
}

/** The part of a request that its address tells, for dialects that put it there. */
export interface LiftContext {
  readonly ledger: Ledger;
  readonly model?: string;
  readonly stream?: boolean;
}

/** A field of the request that did not arrive as it was; `at` limits the note to the leaves below that path. */
export interface FateNote {
  readonly concept: Concept;
  readonly fate: Exclude<Fate, 'exact'>;
  /** The reason, to be matched on; `note` says it in words. */
  readonly code: FateCode;
  readonly note: string;
  readonly at?: string;
  /** Says something of a leaf alone: a request without it has nothing to tell. */
  readonly ofLeaf?: true;
}

/** Traits in which the target model differs from the rest of its dialect; they come from the engine's data. */
export interface LowerContext {
  /** Concepts of the dialect that this model has no form for. */
  readonly lacks: ReadonlySet<Concept>;
  /** Forms that only some models of the dialect have, e.g. `thinking-level`. */
  readonly traits: ReadonlySet<string>;
  /** Token limit to send where the dialect demands one and the caller gave none. */
  readonly defaultMaxTokens: number;
}

/** Rules of the wire for values that callers of other dialects choose freely. */
interface DialectRules {
  /** Ids of tool calls that do not match are rewritten, and back. */
  readonly toolCallId?: RegExp;
  /** Names of tools that do not match are rewritten, and back. */
  readonly toolName: RegExp;
  /** How many stop sequences one request may have. */
  readonly maxStopSequences: number;
  /** Whether a tool result may hold images and documents. */
  readonly toolResultMedia: boolean;
  /** Whether the arguments of a call are an object on the wire; elsewhere they are the text that the model wrote. */
  readonly argumentsAreObjects: boolean;
  /** Whether a message of the assistant may hold media. */
  readonly assistantMedia: boolean;
  /** Whether a message may hold a text without any letter; the others answer 400 to it. */
  readonly blankText: boolean;
  /** Stop sequences that do not match are answered with 400, so the gateway cuts at them. */
  readonly stopSequence?: RegExp;
  /** Whether the schema of a function must be an object at its root, and nothing that combines several schemas. */
  readonly plainRoot: boolean;
  /** It has a form for a number of tokens to think; absent where it has levels or a switch only. */
  readonly thinkingBudgets?: true;
  /** The schemas that a strict tool may have; absent where the vendor says nothing about it. */
  readonly strict?: StrictSubset;
  /** The schemas that its own output format takes; absent where a schema that it does not hold to is not refused. */
  readonly output?: StrictSubset;
  /** Who must speak first: the user, anybody besides the instructions, or nobody in particular. */
  readonly opening: 'user' | 'somebody' | 'anyone';
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
  /** The model name the caller asked for. */
  readonly model: string;
  /** The caller wants usage in its stream (Chat's `stream_options.include_usage`). */
  readonly includeUsage: boolean;
  /** Query of the call with its question mark; some dialects choose the framing by it. */
  readonly query: string;
  readonly echo?: JsonObject;
}

/** Looks at an event of the engine without changing it. */
export type Seen = (value: Json) => void;

export interface Stepper {
  /** IR events of one event of the engine. */
  step(event: SseEvent): IrEvent[];
  /** The engine closed the stream. */
  end(): IrEvent[];
}

export interface Emitter {
  readonly contentType: string;
  /** Wire text of one IR event, framing included. */
  emit(event: IrEvent): string;
}

/** A limit by the minute that a call does not fit into. */
export interface ReachedLimit {
  readonly measure: 'requests' | 'tokens';
  readonly limit: number;
  readonly remaining: number;
  /** When the call fits, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

/** Facts for the receipt that the bytes of an answer tell. */
export interface Observed {
  readonly model?: string;
  readonly usage?: IrUsage;
  readonly finish?: FinishReason;
  readonly toolCalls: readonly ObservedToolCall[];
  readonly error?: string;
  /** The vendor tells this use as often as it is asked: it counts once, by this name and by rows where there are some. */
  readonly once?: { readonly name: string; readonly from: number; readonly to: number };
}

export interface ObservedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
}

/** Watches a stream go by; frames that cannot matter are skipped unread. */
export interface StreamObserver {
  frame(frame: Buffer): void;
  /** About how many bytes it holds of what it has seen. */
  readonly held: number;
  done(): Observed;
}

/** An error as the dialect's SDKs read it. */
export interface WireError {
  readonly status: number;
  readonly body: JsonObject;
}

/** One line of a model list. */
export interface ModelLine {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly createdAtMs: number;
}

/** A vendor wire format a caller speaks. Pure: shapes only, no addresses, no keys. */
export interface Dialect {
  readonly id: string;
  /** The family name that error details carry. */
  readonly style: string;
  readonly aliases: readonly string[];
  readonly paths: readonly VendorPath[];
  /** Where further paths of the vendor begin, which pass unread on its own engines; on another vendor's engine they mean nothing. */
  readonly ownPaths?: readonly string[];
  /** Request headers that switch on features of the vendor; they go along where the dialect stays, and are accounted for elsewhere. */
  readonly featureHeaders?: readonly string[];
  /** Request headers that say which version of the wire format the answer is written in. */
  readonly versionHeaders?: readonly string[];
  /** The prefix on this server of a vendor's path that two dialects share. */
  readonly prefix?: string;
  /** Every shared concept the dialect has a form for, by its name on this wire: differing names make a leaf `renamed`, no name means no form. */
  readonly names: Readonly<Partial<Record<Concept, string>>>;
  readonly rules: DialectRules;
  readonly answers: AnswerShape;
  /** Takes the members of a request that its answer repeats, or whose values decide the answer's form. */
  readonly echoOf?: (body: Json) => JsonObject | undefined;
  liftRequest(body: Json, context: LiftContext): IrRequest;
  lowerRequest(request: IrRequest, context: LowerContext): LoweredRequest;
  liftResponse(body: Json): IrResponse;
  lowerResponse(response: IrResponse, context: AnswerContext): JsonObject;
  /** The request that lets a paused turn go on, made of the one before and of the answer so far; absent where engines never pause. */
  readonly resumed?: (request: JsonObject, answer: JsonObject) => JsonObject;
  /** A whole answer that says that it failed, where the dialect has one beside its error body. */
  readonly failedResponse?: (error: IrError, context: AnswerContext) => JsonObject;
  /** `seen` gets every event as it was parsed, before it is read. */
  stepper(seen?: Seen): Stepper;
  emitter(context: AnswerContext): Emitter;
  /** Body of a token count in this dialect. */
  tokenCount(count: number): JsonObject;
  /** The token count of a lowered request as a request of its own; absent where the dialect has no endpoint for it. */
  readonly lowerCount?: (lowered: LoweredRequest) => LoweredRequest;
  /** The number in such a body, where this dialect has an endpoint for it. */
  liftTokenCount(body: Json): number | undefined;
  modelList(models: readonly ModelLine[]): JsonObject;
  /** The engine's error in neutral words. */
  liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError;
  /** An engine's error as this dialect's vendor would word it. */
  lowerError(error: IrError, context: { readonly requestId: string }): WireError;
  /** Puts our own error body inside the outer members that this dialect's SDKs need. */
  wrapError(body: JsonObject, status: number): JsonObject;
  /** Headers in which the vendor tells of a limit, names and values in turn; absent where it has `x-ratelimit-…` or none. */
  readonly limitHeaders?: (limit: ReachedLimit) => readonly string[];
  observeStream(): StreamObserver;
  observeBody(body: string): Observed;
}
