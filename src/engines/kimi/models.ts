import type { ModelRow } from '../engine.ts';

/** k2.5 and later fix their sampling: anything but the default is answered with 400. */
export const models: readonly ModelRow[] = [
  { match: 'kimi-k2.5*', lacks: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'], traits: ['thinking-switch'] },
  { match: 'kimi-k2.6*', lacks: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'], traits: ['thinking-switch'] },
  { match: 'kimi-k3*', lacks: ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty'], traits: ['reasoning-effort'] },
  { match: 'moonshot-v1*', lacks: ['thinking', 'effort'] },
];
