import type { JsonObject } from '../../base/json.ts';
import type { RemoteRun } from '../../client/remote-run.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { RunResult } from '../../contract/runs/run-result.ts';
import { clientOf, reached } from '../client.ts';
import { CliError } from '../failure.ts';
import type { RunAsked } from './asked.ts';
import type { RunSource } from './source.ts';

export interface ServerAt {
  readonly url: string;
  /** The token of its home, or a key that may run agents. */
  readonly key: string | undefined;
}

/** Runs on a server: that of the home, or another backplane. What the agent may do is checked there. */
export async function serverRun(server: ServerAt, asked: RunAsked): Promise<RunSource> {
  const { connection } = clientOf({ url: server.url }, server.key);
  const run = await reached(server, asked.remote(connection)).catch((error: unknown) => {
    throw keyError(server, error) ?? error;
  });
  const told = new Told(run);
  return {
    runId: run.runId,
    events: told,
    // A result is JSON by its schema.
    result: async () => (told.result ?? (await reached(server, run.view())).result ?? {}) as JsonObject,
    answer: (id, answer) => reached(server, run.respond(id, answer)),
    cancel: () => reached(server, run.abort()),
    close: async () => undefined,
  };
}

/** Of a server whose key comes from the environment. */
function keyError({ url }: ServerAt, error: unknown): CliError | undefined {
  if (!AbpError.is(error) || (error.code !== 'unauthenticated' && error.code !== 'forbidden')) return undefined;
  const unknown = error.code === 'unauthenticated' || error.details.scope !== undefined;
  return new CliError('no_key', `${url} does not let you run this: ${error.message}`, {
    hint: unknown
      ? 'Set ABP_KEY to a key of that backplane made with abp keys create --plane run.'
      : 'The key is known there; its administrator can allow more (abp.toml of that backplane), or give you another one.',
    cause: error,
  });
}

/** The events of a run, and its result once they have ended. */
class Told implements AsyncIterable<AgentEvent> {
  readonly #run: RemoteRun;
  result: RunResult | undefined;

  constructor(run: RemoteRun) {
    this.#run = run;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    try {
      this.result = yield* this.#run[Symbol.asyncIterator]();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CliError('no_server', `the events of ${this.#run.runId} broke off: ${reason}`, {
        hint: 'The run may go on; see GET /v1/runs. Is the key right?',
        cause: error,
      });
    }
  }
}
