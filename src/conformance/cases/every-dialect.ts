import type { Case } from '../case.ts';
import type { Voice } from '../voice.ts';
import { answerCases, toolCases } from './answers.ts';
import { errorCases } from './errors.ts';
import { lossCases } from './losses.ts';
import { receiptCases } from './receipts.ts';
import { streamCases } from './streams.ts';

/** The cases of one dialect in the order they are run. */
export interface DialectCases {
  readonly voice: Voice;
  readonly cases: readonly Case[];
}

/** The cases that every dialect has, said in its voice. */
export function everyDialect(voice: Voice): Case[] {
  return [
    ...answerCases(voice),
    ...toolCases(voice),
    ...streamCases(voice),
    ...lossCases(voice),
    ...receiptCases(voice),
    ...errorCases(voice),
  ];
}
