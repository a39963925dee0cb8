import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { RunId } from '../contract/run-id.ts';
import type { AuditRow } from './audit/audit-row.ts';
import type { Principal, WhoCalls } from './auth/principal.ts';
import type { Gateway } from './gateway.ts';
import type { Reply } from './reply.ts';

type Schema = z.ZodType<object>;
type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : Record<string, never>;

/** A handler's input: the request parsed by the route's schemas, and who asks. */
export interface RouteInput<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined> {
  readonly gateway: Gateway;
  readonly principal: Principal;
  readonly whoCalls: WhoCalls;
  readonly runId: RunId;
  readonly headers: IncomingHttpHeaders;
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
}

/** The input of a route that reads a large body itself. */
export type LargeInput = Pick<RouteInput<undefined, undefined, undefined>, 'gateway' | 'principal' | 'runId' | 'headers'> & {
  readonly bytes: Buffer;
};

/** One control route; the server and `/openapi.json` are made from it. `auth/permissions` says who may call it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` parameters. */
  readonly path: string;
  readonly summary: string;
  /** Requests of this route are recorded in the audit log. */
  readonly audit?: AuditRow;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly body?: Schema;
  /** Also takes a body of type text/markdown, as `{markdown}`. */
  readonly takesMarkdown?: true;
  /** Also takes bodies as large as a vendor path does; those that a control path could not read come as their bytes. */
  readonly handleLarge?: (input: LargeInput) => Promise<Reply>;
  /** Shape of the 200 answer; absent for answers that are not JSON. */
  readonly response?: z.ZodType;
  /** Shape of a 202 answer: there is nothing to tell yet, ask again. */
  readonly accepted?: z.ZodType;
  handle(input: RouteInput<Schema, Schema, Schema>): unknown;
}

interface RouteDefinition<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined>
  extends Omit<Route, 'handle' | 'params' | 'query' | 'body'> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  handle(input: RouteInput<P, Q, B>): unknown;
}

/** Ties the handler's types to the route's schemas. */
export function defineRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(definition: RouteDefinition<P, Q, B>): Route {
  // The server parses params, query and body with these very schemas before it calls the handler.
  return definition as unknown as Route;
}
