import { fileURLToPath } from 'node:url';

/** The clone's own root, for scripts that run without the tests' build. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const build = process.env.ABP_TEST_BUILD;

/** The command `abp`: of the build that the tests have made, else of the sources. */
export const ABP_BIN = build === undefined ? `${root}bin/abp.js` : `${build}/bin/abp.js`;

/** What `import 'agent-backplane'` loads. */
export const ABP_CLIENT = build === undefined ? `${root}src/node/client.ts` : `${build}/dist/node/client.js`;
