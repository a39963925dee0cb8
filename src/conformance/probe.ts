import { Receipt } from '../contract/receipts/receipt.ts';
import type { Answer, Target } from './case.ts';
import { asking, PROMPTS } from './cases/prompts.ts';
import { receiptCall } from './cases/receipts.ts';
import { exchange, type Line } from './exchange.ts';
import type { Voice } from './voice.ts';

/** Engines whose answers are the same for the same request. */
const DETERMINISTIC = new Set(['sim', 'replay']);

/** Who is there, or why this dialect cannot be asked. */
export type Probe = { readonly target: Target } | { readonly absent: string };

/** Asks one question and looks at the receipt, if the gateway is one that leaves receipts. */
export async function probe(line: Line, voice: Voice, options: { model: string; deterministic?: boolean | undefined }): Promise<Probe> {
  const unknown: Target = { model: options.model, ours: false, deterministic: options.deterministic ?? false };
  const answer = await exchange(line, asking(voice, unknown, PROMPTS.hello));
  if (answer.status === 404 || answer.status === 405 || answer.status === 501) {
    return { absent: `the gateway does not serve ${voice.id}: ${answer.status} at ${answer.call.path}` };
  }
  const receipt = await receiptOf(line, answer);
  if (receipt === undefined) return { target: unknown };
  const { engine, mode } = receipt;
  return {
    target: {
      ...unknown,
      ours: true,
      ...(engine === null ? {} : { engine }),
      ...(mode === null ? {} : { mode }),
      deterministic: options.deterministic ?? DETERMINISTIC.has(engine ?? ''),
    },
  };
}

async function receiptOf(line: Line, answer: Answer): Promise<Receipt | undefined> {
  const call = receiptCall(0)([answer]);
  if (call === undefined) return undefined;
  return Receipt.safeParse((await exchange(line, call)).json).data;
}
