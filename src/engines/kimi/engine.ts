import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** Moonshot's API. */
export const kimi: Engine = {
  id: 'kimi',
  name: 'Kimi',
  aliases: ['moonshot'],
  dialects: ['kimi'],
  manifest,
  models,
  prices: 'moonshotai',
  endpoint: { url: 'https://api.moonshot.ai' },
  auth: { header: 'authorization', prefix: 'Bearer ', env: ['MOONSHOT_API_KEY', 'KIMI_API_KEY'] },
};
