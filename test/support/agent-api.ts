import type { TestGateway } from './gateway.ts';
import { call } from './http-call.ts';

/** An answer of the agent plane, its body parsed when it is JSON. */
export interface ApiAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: ReturnType<typeof JSON.parse>;
  readonly text: string;
}

/** Calls the API of a test server; as the unkeyed caller, with its token, or with a key. */
export class AgentApi {
  readonly #server: TestGateway;
  readonly #headers: readonly string[];

  constructor(server: TestGateway, headers: readonly string[] = []) {
    this.#server = server;
    this.#headers = headers;
  }

  withToken(): AgentApi {
    return new AgentApi(this.#server, ['x-abp-key', this.#server.token]);
  }

  async withKey(scopes: object = { planes: ['agent'] }): Promise<AgentApi> {
    const { body } = await this.withToken().call('POST', '/v1/keys', { name: 'test', scopes });
    return new AgentApi(this.#server, ['x-abp-key', body.secret]);
  }

  async call(method: string, path: string, body?: unknown, type = 'application/json'): Promise<ApiAnswer> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await call(`${this.#server.url}${path}`, {
      method,
      headers: [...this.#headers, ...(text === undefined ? [] : ['content-type', type])],
      ...(text === undefined ? {} : { body: text }),
    });
    const answered = answer.body.toString('utf8');
    const contentType = answer.headers['content-type'] ?? '';
    return {
      status: answer.status,
      type: contentType,
      text: answered,
      body: contentType.includes('json') ? JSON.parse(answered) : undefined,
    };
  }

  /** The id of a new agent. */
  async agent(body: object = {}): Promise<string> {
    const answer = await this.call('POST', '/v1/agents', { name: 'Test', ...body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.id;
  }
}
