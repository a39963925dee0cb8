import { withoutCredentials } from '../../base/redact.ts';
import type { Recording } from '../../contract/receipts/parts.ts';
import { enginePath } from '../../dialects/paths.ts';
import { recordedHeaders } from '../headers.ts';
import { lesserRecording } from '../opening.ts';
import type { RequestBodies, RequestBody } from '../recorder.ts';
import type { Draft, Read, VendorCall } from './vendor-call.ts';

/** How much of the call is kept. */
export function recordingOf({ recording: { key, otherwise } }: VendorCall, route?: Recording): Recording {
  return lesserRecording(key, route) ?? otherwise;
}

/** The bodies that the recorder keeps of a call: the request as it came and, where that is another, as the engine gets it. */
export function requestBodies(call: VendorCall, read: Read, sent?: Draft): RequestBodies {
  const request = callerRequest(call, read);
  const { kept: aside } = read;
  if (sent === undefined || sent.body === read.body) return { request, sent: null, aside };
  return { request, aside, sent: sent.kind === 'relay' ? renamed(call, request, sent) : translated(sent) };
}

/** The path is the vendor's own, so that a recording does not depend on which prefix its caller used. */
function callerRequest({ headers, target, match }: VendorCall, read: Read): RequestBody {
  return {
    dialect: match.dialect.id,
    method: match.path.method,
    path: withoutCredentials(`${enginePath(match, target.path, match.model ?? '')}${target.query}`),
    headers: recordedHeaders(headers),
    body: read.body,
  };
}

function renamed({ target, match }: VendorCall, request: RequestBody, { body, route }: Draft): RequestBody {
  return { ...request, path: withoutCredentials(`${enginePath(match, target.path, route.model)}${target.query}`), body };
}

function translated({ path, headers, route, body }: Extract<Draft, { kind: 'translate' }>): RequestBody {
  return { dialect: route.target.id, method: 'POST', path, headers: Object.entries(headers).flat(), body };
}
