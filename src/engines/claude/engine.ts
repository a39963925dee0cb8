import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** Anthropic's API. */
export const claude: Engine = {
  id: 'claude',
  name: 'Claude',
  aliases: ['anthropic'],
  dialects: ['claude'],
  manifest,
  models,
  prices: 'anthropic',
  endpoint: { url: 'https://api.anthropic.com' },
  auth: { header: 'x-api-key', prefix: '', env: ['ANTHROPIC_API_KEY'] },
};
