import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';

/** Google's Gemini API. */
export const gemini: Engine = {
  id: 'gemini',
  name: 'Gemini',
  aliases: ['google'],
  dialects: ['gemini'],
  manifest,
  models,
  prices: 'google',
  endpoint: { url: 'https://generativelanguage.googleapis.com' },
  auth: { header: 'x-goog-api-key', prefix: '', env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] },
};
