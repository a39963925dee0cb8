// The kimi host: hello, one work order, final, as JSON lines on the standard input and output. `abp host kimi` does the same.
import '../../bin/compile-cache.js';

const { serveHost } = await import('../../src/gateway/hosts/host-sidecar.ts');
await serveHost('kimi');
