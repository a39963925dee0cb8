import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** OpenAI's API; the seeds call it Codex. */
export const openai: Engine = {
  id: 'openai',
  name: 'Codex',
  aliases: ['codex'],
  dialects: ['openai-responses', 'openai-chat'],
  manifest,
  models,
  prices: 'openai',
  endpoint: { url: 'https://api.openai.com' },
  auth: { header: 'authorization', prefix: 'Bearer ', env: ['OPENAI_API_KEY'] },
};
