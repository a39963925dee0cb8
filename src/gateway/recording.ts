import { lesserRecording } from '../calls/opening.ts';
import type { RecordingWish } from '../calls/vendor/vendor-call.ts';
import type { Recording } from '../contract/receipts/parts.ts';
import type { BodyKeeping } from '../receipts/bodies/keeper.ts';
import { BodyBucket, type BucketPlace } from '../store/recordings/body-bucket.ts';
import type { Principal } from './auth/principal.ts';
import type { Config } from './config.ts';
import { isLoopbackHost } from './door/trust.ts';

const MIB = 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;

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

/** How the keeper keeps bodies, by the configuration. */
export function bodyKeeping(config: Config): BodyKeeping {
  const { keep_days, max_mb, redact } = config.recording;
  const bucket = placeOf(config);
  return { keepMs: keep_days * DAY_MS, maxBytes: max_mb * MIB, redact, ...(bucket && { bucket }) };
}

/** The bucket as a reader on this node uses it; undefined where there is none. */
export function bucketOf(config: Config, node: string): BodyBucket | undefined {
  const place = placeOf(config);
  return place === undefined ? undefined : new BodyBucket(place, node);
}

function placeOf({ recording: { store } }: Config): BucketPlace | undefined {
  if (store === undefined) return undefined;
  const { access_key: accessKey, secret_key: secretKey, ...rest } = store;
  return { ...rest, accessKey, secretKey };
}
