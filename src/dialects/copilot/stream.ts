import type { AnswerContext, Emitter, Seen, Stepper } from '../dialect.ts';
import { ChatEmitter } from '../families/chat/answers/emitter.ts';
import { ChatStepper } from '../families/chat/answers/stepper.ts';
import { flavour } from './flavour.ts';

export function stepper(seen?: Seen): Stepper {
  return new ChatStepper(flavour, seen);
}

export function emitter(context: AnswerContext): Emitter {
  return new ChatEmitter(flavour, context);
}
