import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunId } from '../../contract/run-id.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import type { Principal } from '../auth/principal.ts';
import type { Target } from '../door/target.ts';

/** A vendor call that has been recognised and whose caller is known. */
export interface VendorCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly match: PathMatch;
  readonly principal: Principal;
}
