import type { AbpError } from '../../contract/errors.ts';
import { type RunId, requestIdOf } from '../../contract/run-id.ts';
import type { Problem } from '../api/problem.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Paths of the agent plane; their errors are RFC 9457 problems. */
const PROBLEM_PATH = /^\/v1\/(?:agents|capabilities|sessions)(?:[/?]|$)/;

export function isProblemPath(path: string): boolean {
  return PROBLEM_PATH.test(path);
}

export interface ProblemTarget {
  readonly runId: RunId;
  /** Where this server answers; the page of an error is on it. */
  readonly url: string;
  /** The path that was asked for. */
  readonly path: string;
}

/** An error as an RFC 9457 problem: what the contract's error body says, under the names of that standard. */
export function problemBody(error: AbpError, { runId, url, path }: ProblemTarget): Problem {
  return {
    type: `${url}/docs/errors/${error.code}`,
    title: error.row.meaning,
    status: error.row.status,
    detail: error.message,
    instance: path.split('?')[0] ?? path,
    code: error.code,
    retryable: error.retryable,
    request_id: requestIdOf(runId),
    ...(Object.keys(error.details).length === 0 ? {} : { details: { ...error.details } }),
  };
}
