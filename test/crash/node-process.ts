// A node in a process of its own that takes others for lost after five seconds. Says its address on the first line.
import { packageVersion } from '../../src/base/own-files.ts';
import { loadConfig } from '../../src/gateway/config.ts';
import { startServer } from '../../src/gateway/server.ts';
import { openHome } from '../../src/home/home.ts';
import { startKeeper } from '../../src/receipts/keeper/keeper.ts';

const { config } = loadConfig({ env: process.env });
const server = await startServer({
  config: { ...config, server: { ...config.server, port: 0 } },
  home: openHome(),
  version: packageVersion(),
  keep: (options) => startKeeper({ ...options, nodes: { beatMs: 100, lostMs: 5000 } }),
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
