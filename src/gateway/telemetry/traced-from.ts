import type { RunId } from '../../contract/run-id.ts';
import type { Gateway } from '../gateway.ts';

/** The trace of a request, for what it begins under another id. */
export function tracedFrom({ telemetry }: Pick<Gateway, 'telemetry'>, request: RunId): { readonly traceparent?: string } {
  const traceparent = telemetry.traces?.offered(request);
  return traceparent === undefined ? {} : { traceparent };
}
