import type { Json, JsonObject } from '../base/json.ts';
import type { AnswerConcept } from '../ir/answer-concept.ts';
import type { VendorMeta, VendorPart } from '../ir/part.ts';

/** A page that a hosted tool looked at. */
export interface FoundPage {
  readonly url: string;
  readonly title?: string;
}

/** A part that only its vendor writes, in a form that a caller of another dialect can be shown. `words` are those that are heard. */
export type ShownPart =
  | { readonly kind: 'image' | 'audio'; readonly mediaType: string; readonly data: string; readonly words?: string }
  | { readonly kind: 'image' | 'audio'; readonly mediaType: string; readonly url: string }
  /** The words of audio whose bytes come in other parts; they may come piece by piece. */
  | { readonly kind: 'transcript'; readonly words: string }
  | { readonly kind: 'code'; readonly language: string; readonly code: string }
  /** `withCode`: the output repeats the code, which no part before it has told. */
  | { readonly kind: 'code_result'; readonly failed: boolean; readonly output: string; readonly withCode?: true }
  /** The pages of a search; they become sources of the text that follows. */
  | { readonly kind: 'pages'; readonly pages: readonly FoundPage[] }
  /** The engine used a tool of its own; the result tells what came of it. */
  | { readonly kind: 'hosted_call'; readonly name: string; readonly input: string }
  | { readonly kind: 'hosted_result'; readonly name: string; readonly failed: boolean; readonly text: string }
  /** Text that the caller brings along as a source, with what it says of where the text comes from. */
  | { readonly kind: 'passage'; readonly heads: readonly string[]; readonly text: string };

/** How a dialect's answers look: what each member means when an engine writes it, and which meanings a caller can read. */
export interface AnswerShape {
  /**
   * The meaning of members by their place. `[*]` is every element of a list, `<x>` an object of kind x (its `type`, unless `kindOf`
   * says otherwise), `<*>` one of any other kind. A claim covers everything below its place that has no claim of its own.
   */
  readonly claims: Readonly<Record<string, AnswerConcept>>;
  /** The same for the events of a stream, where they differ from a whole answer. */
  readonly eventClaims?: Readonly<Record<string, AnswerConcept>>;
  readonly kindOf?: (value: JsonObject) => string | undefined;
  /** The same, made for each answer: pieces of a stream are of the kind of the part that they belong to, which an earlier event named. */
  readonly kinds?: () => (value: JsonObject) => string | undefined;
  /** The name under which a caller of this dialect reads each meaning; no name means that there is no form for it. */
  readonly names: Readonly<Partial<Record<AnswerConcept, string>>>;
  /** Meanings that a caller reads in part, and in how far. */
  readonly partly?: Readonly<Partial<Record<AnswerConcept, string>>>;
  /** The words for a reason to stop that are understood, by the member where an engine writes them. */
  readonly stops: Readonly<Record<string, ReadonlySet<string>>>;
  /** Callers can be told calls whose arguments are a free text. */
  readonly textCalls?: boolean;
  /** Where a call that the token limit cut off can be told: in a stream alone, or nowhere; everywhere where nothing is said. */
  readonly cutCalls?: 'streamed' | 'nowhere';
  /** A part that only this vendor has, in neutral words; undefined where nothing of it can be told. */
  show(part: VendorPart): ShownPart | undefined;
  /** What a label quotes of a part that cannot be told otherwise; all of it where nothing is said. */
  quoted?(part: VendorPart): Json;
  /** One line for each citation of a text that is no page on the web. */
  places(meta: VendorMeta | undefined): readonly string[];
  /** Pages that an answer rests on and tells beside its parts: a text that names them may be missing. */
  pages?(meta: VendorMeta | undefined): readonly FoundPage[];
  /** The nearest part of this dialect to something that another engine generated; undefined where it has none. */
  form?(shown: ShownPart, id: string): JsonObject | undefined;
}

/** How much callers are told of the tier that served them. */
export const PRICED_TIERS = 'the caller reads the tier only where it has prices of its own';

/** The kind of an object, as most dialects say it. */
export function typeOf({ type }: JsonObject): string | undefined {
  return typeof type === 'string' ? type : undefined;
}

/** The claims with a place before each of them. */
export function below(place: string, claims: Readonly<Record<string, AnswerConcept>>): Record<string, AnswerConcept> {
  return Object.fromEntries(Object.entries(claims).map(([at, concept]) => [`${place}${at}`, concept]));
}

/** A text of a wire value, or nothing. */
export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
