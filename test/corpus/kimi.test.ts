import { kimi } from '../../src/dialects/kimi/dialect.ts';
import { describeRecordings } from './chat-suite.ts';

describeRecordings({
  dialect: kimi,
  folder: 'kimi',
  least: [20, 12, 8],
  // OpenRouter, which hosts Kimi in some recordings, has a member of its own.
  unclaimed: /^usage\.include$/,
});
