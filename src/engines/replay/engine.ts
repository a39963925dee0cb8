import { dialects } from '../../dialects/index.ts';
import type { Engine } from '../engine.ts';
import { manifest } from './manifest.ts';
import { models } from './models.ts';
import { replayTransport } from './transport.ts';

/** Recorded runs as an engine: the same request gets the same bytes again, with no key and no network. */
export const replay: Engine = {
  id: 'replay',
  name: 'Replay',
  aliases: [],
  dialects: dialects.map((dialect) => dialect.id),
  manifest,
  models,
  fileVariable: 'ABP_REPLAY_FILE',
  transport: replayTransport,
};
