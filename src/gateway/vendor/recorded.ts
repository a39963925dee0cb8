import { withoutCredentials } from '../../base/redact.ts';
import { recordedHeaders } from '../../calls/headers.ts';
import type { RequestBodies, RequestBody } from '../../calls/recorder.ts';
import { enginePath } from '../../dialects/paths.ts';
import type { VendorCall } from './call.ts';
import type { Plan } from './plan.ts';
import type { Read } from './read.ts';

/** What is recorded of a call: the request as it came and, where that is something else, as the engine gets it. */
export function requestBodies(call: VendorCall, read: Read, plan?: Plan): RequestBodies {
  const request = callerRequest(call, read);
  if (plan === undefined || plan.body === read.body) return { request, sent: null };
  return { request, sent: plan.kind === 'relay' ? renamed(call, request, plan) : translated(plan) };
}

/** The path is the vendor's own, so that a recording does not depend on which prefix its caller used. */
function callerRequest({ request, target, match }: VendorCall, read: Read): RequestBody {
  return {
    dialect: match.dialect.id,
    method: match.path.method,
    path: withoutCredentials(`${enginePath(match, target.path, match.model ?? '')}${target.query}`),
    headers: recordedHeaders(request.rawHeaders),
    body: read.body,
  };
}

function renamed({ target, match }: VendorCall, request: RequestBody, { body, route }: Plan): RequestBody {
  return { ...request, path: withoutCredentials(`${enginePath(match, target.path, route.model)}${target.query}`), body };
}

function translated({ path, headers, route, body }: Extract<Plan, { kind: 'translate' }>): RequestBody {
  return { dialect: route.target.id, method: 'POST', path, headers: Object.entries(headers).flat(), body };
}
