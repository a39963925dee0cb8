import type { Recording } from '../contract/receipt.ts';
import type { Principal } from './auth/principal.ts';
import type { Config } from './config.ts';

/** How much of a run is kept: what the key says, else the configuration, else everything on an open loopback server and digests once there is auth. */
export function recordingFor(config: Config, principal: Principal): Recording {
  const own = principal.kind === 'key' ? principal.key.recording : null;
  if (own === 'full' || own === 'digest' || own === 'off') return own;
  return config.recording.default ?? (config.auth.local ? 'full' : 'digest');
}
