import { loadConfig } from '../src/gateway/config.ts';
import { startServer } from '../src/gateway/server.ts';
import { openHome } from '../src/home/home.ts';
import { startKeeper } from '../src/receipts/keeper/keeper.ts';
import { noReceipts } from '../test/support/no-receipts.ts';
import { scratchFolder } from './processes.ts';

/** The gateway with receipts or without. Started by a bench with `digest`, `full` or `off`, and the origin of the engine. */
const [, , variant = '', engine = ''] = process.argv;
const { config } = loadConfig({ env: { ABP_ENGINE_CLAUDE_URL: engine } });
const server = await startServer({
  config: {
    ...config,
    server: { ...config.server, port: 0 },
    recording: { ...config.recording, default: variant === 'full' ? 'full' : 'digest' },
  },
  home: openHome({ path: scratchFolder() }),
  version: 'bench',
  keep: variant === 'off' ? noReceipts : startKeeper,
});
process.send?.(Number(new URL(server.url).port));
process.once('disconnect', () => void server.close().then(() => process.exit()));
