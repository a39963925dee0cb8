import type { Act, Sentence, Trouble } from './instructions.ts';
import type { Wonder } from './wonders.ts';

export type CallAct = Extract<Act, { kind: 'call' | 'write' }>;

/** The acts of one answer of the sim. Several calls of a stage are parallel; the next stage begins when their results are there. */
export interface Stage {
  readonly say?: string;
  readonly calls: readonly CallAct[];
  readonly failStatus?: number;
  readonly cut: boolean;
  /** The answer ends in the middle of its last call. */
  readonly cutCall?: true;
  readonly wonders: readonly Wonder[];
  readonly troubles: ReadonlySet<Trouble>;
  readonly waitMs: number;
  /** Pause before each delta after the first. */
  readonly paceMs: number;
}

export const EMPTY_STAGE: Stage = { calls: [], cut: false, wonders: [], troubles: new Set(), waitMs: 0, paceMs: 0 };

/** Orders the sentences into answers. Without `parallel` every call is an answer of its own. */
export function stagesOf(sentences: readonly Sentence[], parallel: boolean): Stage[] {
  const stages: Stage[] = [];
  let current = EMPTY_STAGE;
  for (const sentence of sentences) {
    if (current.calls.length > 0 && opensStage(sentence, parallel)) {
      stages.push(current);
      current = EMPTY_STAGE;
    }
    current = extend(current, sentence.act);
  }
  return [...stages, current];
}

/** Something said after a call is said when its result is there. */
function opensStage({ act, follows }: Sentence, parallel: boolean): boolean {
  return follows || act.kind === 'say' || (!parallel && isCall(act));
}

function isCall(act: Act): act is CallAct {
  return act.kind === 'call' || act.kind === 'write';
}

function extend(stage: Stage, act: Act): Stage {
  switch (act.kind) {
    case 'call':
    case 'write':
      return { ...stage, calls: [...stage.calls, act] };
    case 'say':
      return { ...stage, say: stage.say === undefined ? act.text : `${stage.say}\n${act.text}` };
    case 'fail':
      return { ...stage, failStatus: stage.failStatus ?? act.status };
    case 'cut-call':
      return { ...stage, cutCall: true };
    case 'cut':
      return { ...stage, cut: true };
    case 'show':
      return { ...stage, wonders: [...stage.wonders, act.wonder] };
    case 'trouble':
      return { ...stage, troubles: new Set([...stage.troubles, act.trouble]) };
    case 'wait':
      return act.eachWord ? { ...stage, paceMs: act.ms } : { ...stage, waitMs: stage.waitMs + act.ms };
  }
}

/** The stage that follows after `callsDone` calls, without the calls of it that are done. */
export function stageAfter(stages: readonly Stage[], callsDone: number): Stage {
  let left = callsDone;
  for (const stage of stages) {
    if (stage.calls.length === 0) return stage;
    if (stage.calls.length > left) return { ...stage, calls: stage.calls.slice(left) };
    left -= stage.calls.length;
  }
  return EMPTY_STAGE;
}
