import type { JsonObject } from '../../base/json.ts';
import type { IrOutputFormat, IrRequest } from '../../ir/request.ts';
import { findObject } from './literal.ts';
import type { PlannedCall } from './plan.ts';
import { instance, looksLike } from './schema.ts';
import { EMPTY_STAGE, type Stage, stageAfter, stagesOf } from './stages.ts';
import { cutCalls, decideCalls } from './tools.ts';
import { readTranscript, type ToolReport, type Transcript } from './transcript.ts';

const ECHO_CHARACTERS = 200;

/** The sim's answer before any limit of the request is applied. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
  readonly stage: Stage;
}

/** Decides what to say and what to call. A failed tool ends the loop: the failure is told instead of going on. */
export function answer(request: IrRequest): Answer {
  const transcript = readTranscript(request);
  const failed = transcript.results.some((result) => result.isError);
  const stages = stagesOf(transcript.sentences, request.parallelToolCalls !== false);
  const next = failed ? EMPTY_STAGE : stageAfter(stages, transcript.callsDone);
  const stage = transcript.results.length > 0 ? uncut(next) : next;
  const { calls: decided, problem } = decideCalls(request, stage.calls, transcript.ask);
  const calls = stage.cutCall === true ? cutCalls(request, decided) : decided;
  if (calls.length > 0) return { text: stage.say ?? '', calls, stage };
  const plain = problem ?? (failed ? undefined : stage.say) ?? resultWords(transcript.results) ?? echo(transcript.ask);
  return { text: inFormat(request.output, plain, transcript), calls, stage };
}

/** A call that was cut off has its result; it is not cut again. Dialects without a mark for errors tell it as a result like any other. */
function uncut({ cutCall: _done, ...stage }: Stage): Stage {
  return stage;
}

function resultWords(results: readonly ToolReport[]): string | undefined {
  if (results.length === 0) return undefined;
  return results.map(resultWord).join('\n');
}

/** An empty answer would make some agents ask again, so an empty result is told in words. */
function resultWord({ name, text, isError }: ToolReport): string {
  if (isError) return `the tool ${name} failed: ${text}`;
  return text.trim() === '' ? `the tool ${name} returned nothing` : text;
}

function echo(ask: string): string {
  return ask === '' ? 'sim heard nothing' : `sim heard: ${[...ask.slice(0, 2 * ECHO_CHARACTERS)].slice(0, ECHO_CHARACTERS).join('')}`;
}

/** The text in the shape the caller wants: as it is, or as JSON that was said, returned or asked for, or else made up. */
function inFormat(format: IrOutputFormat | undefined, plain: string, { ask }: Transcript): string {
  if (format === undefined) return plain;
  if (format.kind === 'json') return findObject(plain, () => true) ?? findObject(ask, () => true) ?? JSON.stringify({ answer: plain });
  if (format.bare) return chosen(format.schema, ask);
  const fits = (object: JsonObject) => looksLike(object, format.schema);
  return findObject(plain, fits) ?? findObject(ask, fits) ?? JSON.stringify(instance(format.schema));
}

/** The text of a choice that the prompt names, else the first one. */
function chosen({ enum: texts }: JsonObject, ask: string): string {
  const choice = Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
  return choice.find((text) => ask.includes(text)) ?? choice[0] ?? '';
}
