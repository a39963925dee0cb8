import type https from 'node:https';
import type tls from 'node:tls';

/** TLS costs a start 7 ms; a server without a certificate, and a thread that calls nobody, never ask for it. */
export function nodeTls(): typeof tls {
  return process.getBuiltinModule('node:tls');
}

export function nodeHttps(): typeof https {
  return process.getBuiltinModule('node:https');
}
