import { type JsonObject, objectIn } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { IrPart } from '../../../ir/part.ts';
import type { FinishReason, IrResponse } from '../../../ir/response.ts';
import type { AnswerContext } from '../../dialect.ts';
import { compact } from '../../members.ts';
import { signatureOf } from '../signature.ts';
import { FINISH_REASON, lowerUsage } from './finish.ts';
import { lowerGrounding } from './grounding.ts';
import { lowerLogprobs } from './logprobs.ts';

/** One part of an answer; undefined where it has no form here, or a call's arguments are not JSON. */
export function answerPart(part: IrPart): JsonObject | undefined {
  const own = part.meta?.gemini;
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { text: part.text, ...own };
    case 'thinking':
      return own?.text === undefined ? thoughtPart(part.text, signatureOf(part.meta, part.redacted)) : own;
    case 'tool-call': {
      const args = part.arguments.trim() === '' ? {} : parseShallowObject(part.arguments);
      if (args === undefined) return undefined;
      return compact({ functionCall: { id: part.id, name: part.name, args }, thoughtSignature: signatureOf(part.meta), ...callMeta(own) });
    }
    default:
      return own;
  }
}

export function thoughtPart(text: string, signature: string | undefined): JsonObject {
  return compact({ text, thought: true, thoughtSignature: signature });
}

function callMeta(own: JsonObject | undefined): JsonObject {
  const { functionCall: _inner, ...rest } = own ?? {};
  return rest;
}

/** How an answer ends: a call that cannot be written as an object is what Gemini calls a malformed one. */
export function finishReason(finish: FinishReason, malformed: boolean): string {
  return malformed && finish !== 'length' ? 'MALFORMED_FUNCTION_CALL' : FINISH_REASON[finish];
}

/** A whole answer. A prompt that was blocked has feedback instead of a candidate. */
export function lowerResponse(response: IrResponse, context: AnswerContext): JsonObject {
  const { candidate: _told, ...others } = response.meta?.gemini ?? {};
  const blocked = others.promptFeedback !== undefined && response.parts.length === 0;
  return compact({
    candidates: blocked ? undefined : [response, ...(response.alternatives ?? [])].map(lowerCandidate),
    usageMetadata: lowerUsage(response.usage),
    modelVersion: context.model,
    responseId: response.id ?? context.runHex,
    ...others,
  });
}

function lowerCandidate(answer: IrResponse, index: number): JsonObject {
  const parts = answer.parts.map(answerPart);
  const malformed = answer.parts.some((part, at) => part.kind === 'tool-call' && parts[at] === undefined);
  const logprobs = answer.parts.flatMap((part) => (part.kind === 'text' ? (part.logprobs ?? []) : []));
  return compact({
    content: { parts: parts.filter((part) => part !== undefined), role: 'model' },
    finishReason: finishReason(answer.finish, malformed),
    index,
    logprobsResult: logprobs.length === 0 ? undefined : lowerLogprobs(logprobs),
    ...lowerGrounding(answer.parts.flatMap((part) => (part.kind === 'text' ? [part] : []))),
    ...objectIn(answer.meta?.gemini?.candidate),
  });
}
