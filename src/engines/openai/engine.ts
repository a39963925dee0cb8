import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** OpenAI's API; the seeds call it Codex. */
export const openai: Engine = {
  id: 'openai',
  name: 'OpenAI',
  aliases: ['codex'],
  dialects: ['openai-responses', 'openai-chat'],
  manifest,
  models,
  prices: 'openai',
  endpoint: {
    url: 'https://api.openai.com',
    // A ChatGPT account has no right to the API; Codex talks to this address with it.
    login: { url: 'https://chatgpt.com/backend-api/codex', header: 'chatgpt-account-id', without: '/v1' },
  },
  auth: { header: 'authorization', prefix: 'Bearer ', env: ['OPENAI_API_KEY'] },
};
