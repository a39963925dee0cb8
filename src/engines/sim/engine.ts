import { dialects } from '../../dialects/index.ts';
import type { Engine } from '../engine.ts';
import { manifest, speaking } from './manifest.ts';
import { models } from './models.ts';
import { rememberingTransport, transport } from './transport.ts';

/** The built-in simulated model: deterministic, no key, every dialect natively. */
export const sim: Engine = {
  id: 'sim',
  name: 'Sim',
  aliases: [],
  dialects: dialects.map((dialect) => dialect.id),
  manifest,
  speaking,
  models,
  sample: 'sim-1',
  transport: ({ promptCache }) => (promptCache === true ? rememberingTransport() : transport),
};
