import { sha256 } from '../../base/canonical-json.ts';
import type { IrEffort, IrRequest } from '../../ir/request.ts';
import { cutToTokens } from '../../ir/token-estimate.ts';

/** The sim's thinking. `tokens` counts also where the caller wants no text. */
export interface Thought {
  readonly text: string;
  readonly tokens: number;
  /** Opaque and the same for the same request, as a vendor's signature is to its client. */
  readonly signature: string;
}

const EFFORT_TOKENS: Readonly<Record<IrEffort, number>> = { none: 8, minimal: 8, low: 16, medium: 32, high: 64, xhigh: 96, max: 128 };
const DEFAULT_TOKENS = EFFORT_TOKENS.medium;
const MUSING = 'I read the request, look at what is offered and decide what to do next. ';

/** The thought before an answer; undefined when thinking is off or there is no room for it. */
export function thoughtFor(request: IrRequest, seed: string): Thought | undefined {
  if (!isThinking(request)) return undefined;
  const tokens = Math.floor(Math.min(wantedTokens(request), request.thinking?.budgetTokens ?? Infinity, roomFor(request)));
  if (tokens < 1) return undefined;
  const text = cutToTokens(MUSING.repeat(Math.ceil((tokens * 4) / MUSING.length)), tokens);
  const signature = Buffer.from(sha256(`${seed}:thinking`), 'hex').toString('base64');
  return { text: request.thinking?.display === 'omitted' ? '' : text, tokens, signature };
}

function isThinking({ thinking, effort }: IrRequest): boolean {
  if (thinking !== undefined) return thinking.mode !== 'disabled';
  return effort !== undefined && effort !== 'none';
}

/** Grows with the effort; without one, slowly with the budget. */
function wantedTokens({ thinking, effort }: IrRequest): number {
  if (effort !== undefined) return EFFORT_TOKENS[effort];
  return thinking?.budgetTokens === undefined ? DEFAULT_TOKENS : Math.max(8, Math.sqrt(thinking.budgetTokens) / 2);
}

/** Half of the answer at most, so that a small limit still leaves words. */
function roomFor({ maxTokens }: IrRequest): number {
  return maxTokens === undefined ? Infinity : maxTokens / 2;
}
