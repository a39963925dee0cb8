import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** GitHub Copilot's model API. Its token is short-lived: the caller brings it, or a script refreshes the configured one. */
export const copilot: Engine = {
  id: 'copilot',
  name: 'Copilot',
  aliases: ['github-copilot'],
  dialects: ['copilot'],
  manifest,
  models,
  prices: 'github-copilot',
  endpoint: { url: 'https://api.githubcopilot.com' },
  auth: { header: 'authorization', prefix: 'Bearer ', env: ['COPILOT_API_TOKEN'] },
};
