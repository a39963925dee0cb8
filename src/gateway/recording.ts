import { lesserRecording } from '../calls/opening.ts';
import type { Recording } from '../contract/receipts/receipt.ts';
import type { Principal } from './auth/principal.ts';
import type { Config } from './config.ts';
import { isLoopbackHost } from './door/trust.ts';

/**
 * How much of a run is kept: the lesser of what the key and the route say, else the configuration, else everything on an open
 * loopback server and digests once there is auth.
 */
export function recordingFor(config: Config, principal: Principal, route?: Recording): Recording {
  const key = principal.kind === 'key' ? principal.key.recording : null;
  const explicit = lesserRecording(key, route);
  return explicit ?? config.recording.default ?? (config.auth.local && isLoopbackHost(config.server.host) ? 'full' : 'digest');
}

/** A raw call's bytes pass unread, so digests are the most there is of it. */
export function rawRecordingFor(config: Config, principal: Principal): Recording {
  return recordingFor(config, principal) === 'off' ? 'off' : 'digest';
}
