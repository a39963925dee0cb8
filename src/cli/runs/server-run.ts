import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json.ts';
import { followEvents } from '../../client/events.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { clientOf, type ServerClient } from '../client.ts';
import { CliError } from '../failure.ts';
import type { RunSource } from './source.ts';

export interface ServerAt {
  readonly url: string;
  /** The token of its home, or a key that may run agents. */
  readonly key: string | undefined;
}

/** Runs on a server: that of the home, or another backplane. What the agent may do is checked there. */
export async function serverRun(server: ServerAt, options: RunOptions): Promise<RunSource> {
  const client = clientOf({ url: server.url }, server.key);
  // RunOptions are JSON already.
  const started = await client.call('POST', '/v1/runs', options as unknown as JsonObject).catch((error: unknown) => {
    throw keyError(server, error) ?? error;
  });
  const runId = isJsonObject(started) && typeof started.run_id === 'string' ? started.run_id : '';
  const stream = new ServerEvents(server, runId);
  return {
    runId,
    events: stream,
    result: async () => stream.result ?? (await storedResult(client, runId)),
    answer: async (id, answer) => {
      await client.call('POST', `/v1/runs/${runId}/interactions/${encodeURIComponent(id)}`, { ...answer });
    },
    cancel: async () => void (await client.call('POST', `/v1/runs/${runId}/cancel`)),
    close: async () => undefined,
  };
}

/** Of a server whose key comes from the environment. */
function keyError({ url }: ServerAt, error: unknown): CliError | undefined {
  if (!AbpError.is(error) || (error.code !== 'unauthenticated' && error.code !== 'forbidden')) return undefined;
  return new CliError('no_key', `${url} does not let you run this: ${error.message}`, {
    hint: 'Set ABP_KEY to a key of that backplane made with abp keys create --plane run.',
    cause: error,
  });
}

async function storedResult(client: ServerClient, runId: string): Promise<JsonObject> {
  const run = await client.call('GET', `/v1/runs/${runId}`);
  return isJsonObject(run) && isJsonObject(run.result) ? run.result : {};
}

/** The events of a run, until its result. */
class ServerEvents implements AsyncIterable<AgentEvent> {
  readonly #server: ServerAt;
  readonly #runId: string;
  result: JsonObject | undefined;

  constructor(server: ServerAt, runId: string) {
    this.#server = server;
    this.#runId = runId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent> {
    const left = new AbortController();
    const options = { after: '0', signal: left.signal };
    try {
      for await (const { event, data } of followEvents({ ...this.#server, fetch }, `/v1/runs/${this.#runId}/events`, options)) {
        const value = parseJsonObject(data) ?? {};
        if (event === 'run_result') {
          this.result = withoutType(value);
          return;
        }
        yield value as unknown as AgentEvent; // our own server speaks the contract
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CliError('no_server', `the events of ${this.#runId} broke off: ${reason}`, {
        hint: 'The run may go on; see GET /v1/runs. Is the key right?',
        cause: error,
      });
    } finally {
      left.abort();
    }
  }
}

function withoutType({ type: _type, ...result }: JsonObject): JsonObject {
  return result;
}
