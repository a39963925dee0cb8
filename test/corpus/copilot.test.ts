import { copilot } from '../../src/dialects/copilot/dialect.ts';
import { describeRecordings } from './chat-suite.ts';

describeRecordings({ dialect: copilot, folder: 'copilot', least: [12, 6, 9], unclaimed: /^$/ });
