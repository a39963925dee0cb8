import { AbpError } from '../../src/contract/errors.ts';
import type { EmulationEntry, FidelityEntry } from '../../src/contract/negotiation.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import { OWN_FORM } from '../../src/mapping/preflight.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleAnswer, SampleRequest, SampleStream } from './sources.ts';
import type { Tally } from './tally.ts';

/** What a receipt says of one side of a call. */
interface Account {
  readonly fidelity: readonly FidelityEntry[];
  readonly emulations: readonly EmulationEntry[];
}

/** A sentence in the system prompt is listed with its words instead of the note. */
function names({ strategy }: EmulationEntry, { note, code }: FidelityEntry): boolean {
  if (strategy.type === 'system_prompt_injection') return code === 'thinking_as_prompt';
  return strategy.type === 'post_processing' && strategy.detail === note;
}

/** The manifest calls the engine's own form an approximation; its fields arrive as they are. */
function isOwnForm({ strategy }: EmulationEntry): boolean {
  return strategy.type === 'post_processing' && strategy.detail === OWN_FORM;
}

/** Fields that are said to be emulated and no emulation names, and emulations that no field tells of. */
function gapsOf({ fidelity, emulations }: Account): string[] {
  const emulated = fidelity.filter(({ fate }) => fate === 'emulated');
  return [
    ...emulated
      .filter((entry) => !emulations.some((one) => names(one, entry)))
      .map(({ path, code, note }) => `${path} is emulated (${code ?? ''}: ${note ?? ''}) and not among the emulations`),
    ...emulations
      .filter((one) => !isOwnForm(one) && !emulated.some((entry) => names(one, entry)))
      .map(({ capability, strategy }) => `no field tells of ${capability}: ${JSON.stringify(strategy)}`),
  ];
}

function check(account: Account, sample: string, where: string, tally: Tally): void {
  tally.tried += 1;
  for (const what of gapsOf(account)) tally.wrong.push({ sample, where, what });
}

/** The list of emulations of a request names what its fidelity record names, and nothing else. */
export function tryRequestLabels({ id, from, body, address }: SampleRequest, target: MappingTarget, tally: Tally): void {
  for (const operation of ['generate', 'count-tokens'] as const) {
    const mapping = mapTo(target, from, body, { emulate: OPTED_IN, address, operation });
    if (mapping.upstream !== undefined) check(mapping, id, `${target.name}, ${operation}`, tally);
  }
}

/** The same for an answer in one piece; one that has no form for the caller is an error of its own. */
export function tryAnswerLabels({ id, from, answer }: SampleAnswer, caller: string, tally: Tally): void {
  try {
    check(wholeAnswer(from, caller, answer), id, `${from} → ${caller}`, tally);
  } catch (error) {
    if (!AbpError.is(error) && !(error instanceof EngineFailure)) throw error;
  }
}

/** The same for a stream. */
export function tryStreamLabels({ id, from, stream }: SampleStream, caller: string, tally: Tally): void {
  check(streamedAnswer(from, caller, stream), id, `${from} → ${caller}, streamed`, tally);
}
