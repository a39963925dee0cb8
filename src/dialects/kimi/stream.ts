import type { AnswerContext, Emitter, Stepper } from '../dialect.ts';
import { ChatEmitter } from '../families/chat/emitter.ts';
import { ChatStepper } from '../families/chat/stepper.ts';
import { flavour } from './flavour.ts';

export function stepper(): Stepper {
  return new ChatStepper(flavour);
}

export function emitter(context: AnswerContext): Emitter {
  return new ChatEmitter(flavour, context);
}
