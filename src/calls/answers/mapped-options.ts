import type { JsonAsked, JsonVerdict } from '../../negotiation/post-processing.ts';
import type { TakeOver } from '../../upstream/gate.ts';
import type { Admitted } from '../admission.ts';
import type { Holding } from '../bounds/body-budget.ts';
import type { Deployment } from '../deployment.ts';
import type { TranslatedAnswer } from '../large-bodies/large-bodies.ts';
import type { Recorder } from '../recorder.ts';
import type { Answer } from './answer.ts';
import type { PausedTurns } from './paused-turns.ts';
import type { ToolGateOptions } from './tool-gate.ts';
import type { Translation } from './translate.ts';

/** A call whose request was translated and whose answer must be. Without the request: its body must not live as long as a slow stream. */
export interface MappedOptions {
  readonly admitted: Admitted;
  /** Rules about tools that the answer is held to. */
  readonly gate?: ToolGateOptions | undefined;
  readonly deployment: Deployment;
  readonly translation: Translation;
  /** The engine may pause its turn; it is then asked to go on. */
  readonly turns?: PausedTurns;
  /** Translates a large answer in one piece on another thread. */
  readonly aside: (body: Buffer, headers: readonly string[]) => Promise<TranslatedAnswer>;
  /** Judges a streamed answer that must be JSON on another thread. */
  readonly judge: (asked: JsonAsked) => Promise<JsonVerdict>;
  readonly streamed: boolean;
  readonly answer: Answer;
  readonly recorder: Recorder;
  /** Memory for an answer that is translated in one piece, and for what is kept of a stream. */
  readonly holding: Holding;
  /** Asked at a failure before the first byte, where the route allows another try. */
  readonly takeOver?: TakeOver | undefined;
  /** The end of a run could not be written or sent: a fault of ours, to log. */
  readonly onFault: (error: unknown) => void;
  /** The engine has the request body, or will never get it. */
  readonly onTaken: () => void;
}
