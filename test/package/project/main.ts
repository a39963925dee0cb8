import { deepStrictEqual, ok } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { abilities, client, installation, models, plugins, refusal } from './coding-agents.ts';
import { emulated, negotiated, order } from './contract.ts';

const mux = client(mkdtempSync(join(tmpdir(), 'abp-package-')));
deepStrictEqual(abilities(mux), ['low', 'medium', 'high', 'max']);
deepStrictEqual(refusal(mux), { code: 'CAPABILITY_ERROR', agent: 'copilot', capability: 'sessionFork' });
ok(installation(mux, 'claude').length > 0);
ok(plugins(mux.adapters.capabilities('openclaw'))[1].length === 2);
ok((await models(mux)) > 2000);
deepStrictEqual(negotiated()[0], true);
deepStrictEqual([emulated(), order().task], [true, 'fix the failing test']);
await mux.close();
process.stdout.write('ok\n');
