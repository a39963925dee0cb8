import type http from 'node:http';

/**
 * `node:http` without what an `import` of it brings along: a module of named exports reads every member once, and reading `WebSocket`
 * loads Node's own HTTP client, 13 MB and 20 ms at start that nothing here uses.
 */
export const nodeHttp: typeof http = process.getBuiltinModule('node:http');
