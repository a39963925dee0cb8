import { TestPlatform } from '../../support/platform.ts';
import { effectTools } from './tools.ts';

/** A process that works on turns until it is killed. */
const [home = '', effectsFolder = '', databaseUrl] = process.argv.slice(2);
const quick = { sweepMs: 100, silentMs: 1000 };
const platform = await TestPlatform.open({ home, databaseUrl, tools: effectTools(effectsFolder), receipts: true, ...quick });

process.send?.({ ready: platform.service.parts.workerId });
// On SQLite nothing else holds the process open while it has no turn.
setInterval(() => undefined, 60_000);
