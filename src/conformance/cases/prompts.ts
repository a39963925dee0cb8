import type { Call, Target } from '../case.ts';
import type { Ask, Turn, Voice } from '../voice.ts';

/** Sentences that any model can follow and that the sim follows to the letter. */
export const PROMPTS = {
  hello: 'Say "hello there, this is a conformance test"',
  unicode: 'Say "Grüße, 世界 — 😀 \u{1F469}\u200d\u{1F4BB} \u2028 ẞ"',
  stopped: 'Say "one two STOP three four"',
  long: `Say "${'many words in a row '.repeat(30).trim()}"`,
  call: 'Call the tool lookup with {"key":"alpha"}',
  chain:
    'Call the tool lookup with {"key":"alpha"}, then call the tool lookup with {"key":"beta"}. After that, tell me the last value that it returned.',
  parallel: 'Call the tool lookup with {"key":"alpha"} and call the tool lookup with {"key":"beta"}',
} as const;

export const UNICODE_TEXT = 'Grüße, 世界 — 😀 \u{1F469}\u200d\u{1F4BB} \u2028 ẞ';

/** A call with one question. */
export function asking(voice: Voice, target: Target, text: string, more: Partial<Ask> = {}): Call {
  return voice.ask({ model: target.model, turns: [{ kind: 'ask', text }], ...more });
}

export function ask(text: string): Turn {
  return { kind: 'ask', text };
}
