import type { Observed, StreamObserver } from '../dialect.ts';
import { observeChatBody, observeChatStream } from '../families/chat/observe.ts';
import { flavour } from './flavour.ts';

export function observeStream(): StreamObserver {
  return observeChatStream();
}

export function observeBody(body: string): Observed {
  return observeChatBody(flavour, body);
}
