import { request } from 'undici';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts';
import { AbpError, isErrorCode } from '../contract/errors.ts';
import type { ServerAddress } from '../home/address.ts';
import { openHome } from '../home/home.ts';
import { CliError } from './failure.ts';

const ANSWER_MS = 30_000;

/** Where a server is; without a number of a process it is not one of this machine's homes. */
type Address = Pick<ServerAddress, 'url'> & Partial<ServerAddress>;

/** A live server, called with the token of its home or with a key. */
export interface ServerClient extends Address {
  /** The answer's JSON; an error answer is thrown as the error it carries. */
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<Json>;
}

/** The client of the home's server; throws `no_server` when none runs. */
export function connect(options: { readonly homePath?: string | undefined }): ServerClient {
  const home = openHome({ path: options.homePath });
  const address = home.readAddress();
  if (address === undefined) throw noServer('no server is running for this home');
  return clientOf(address, home.token);
}

/** A client of any address; without a token the server takes it for an unkeyed caller. */
export function clientOf(address: Address, token?: string): ServerClient {
  return {
    ...address,
    async call(method, path, body) {
      const { status, text } = await exchange(address, { method, path, token, body });
      const parsed = parseJson(text);
      if (status < 400) return parsed.ok ? parsed.value : text;
      throw errorOf(status, parsed.ok && isJsonObject(parsed.value) ? parsed.value : {});
    },
  };
}

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly body?: Json | undefined;
}

async function exchange(address: Address, { method, path, token, body }: Exchange): Promise<{ status: number; text: string }> {
  try {
    const answer = await request(`${address.url}${path}`, {
      method,
      // One call per process: a kept connection would only hold the process open.
      reset: true,
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      headers: { ...(token !== undefined && { 'x-abp-key': token }), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  } catch (cause) {
    throw address.pid === undefined
      ? new CliError('no_server', `${address.url} does not answer`, { hint: 'Does abp serve run there, and is the address right?', cause })
      : noServer(`the server at ${address.url} (pid ${address.pid}) does not answer`, cause);
  }
}

/** The error inside the contract's body, or a problem of the agent plane, whose members stand at the top. */
function errorOf(status: number, body: JsonObject): Error {
  const error = isJsonObject(body.error) ? body.error : { ...body, message: body.detail ?? null };
  const code = typeof error.code === 'string' && isErrorCode(error.code) ? error.code : 'internal';
  const message = typeof error.message === 'string' ? error.message : `the server answered ${status}`;
  return new AbpError(code, message, isJsonObject(error.details) ? error.details : {});
}

function noServer(message: string, cause?: unknown): CliError {
  return new CliError('no_server', message, { hint: 'Start one with abp serve, or name its home with --home.', cause });
}
