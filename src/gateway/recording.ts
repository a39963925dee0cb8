import { lesserRecording } from '../calls/opening.ts';
import type { RecordingWish } from '../calls/vendor/vendor-call.ts';
import type { Recording } from '../contract/receipts/parts.ts';
import type { Principal } from './auth/principal.ts';
import type { Config } from './config.ts';
import { isLoopbackHost } from './door/trust.ts';

/** How much is kept: as the caller's key says, else everything on an open loopback server, digests once there is auth. */
export function recordingWish(config: Config, principal: Principal): RecordingWish {
  const otherwise = config.recording.default ?? (config.auth.local && isLoopbackHost(config.server.host) ? 'full' : 'digest');
  return { key: principal.kind === 'key' ? principal.key.recording : null, otherwise };
}

/** How much of a run is kept where no route has a say. */
export function recordingFor(config: Config, principal: Principal): Recording {
  const { key, otherwise } = recordingWish(config, principal);
  return lesserRecording(key, undefined) ?? otherwise;
}
