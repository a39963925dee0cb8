import { isJsonObject, type Json, type JsonObject, listIn } from '../base/json.ts';
import { nodeFetch } from '../base/node-fetch.ts';
import { type Call, type Connection, callJson } from '../client/http.ts';
import { AbpError } from '../contract/errors.ts';
import type { ServerAddress } from '../home/address.ts';
import { openHome } from '../home/home.ts';
import { CliError } from './failure.ts';

/** Where a server is; without a number of a process it is not one of this machine's homes. */
type Address = Pick<ServerAddress, 'url'> & Partial<ServerAddress>;

/** A live server, called with the token of its home or with a key. */
export interface ServerClient extends Address {
  readonly connection: Connection;
  /** The answer's JSON; an error answer is thrown as the error it carries. */
  call(method: NonNullable<Call['method']>, path: string, body?: Json): Promise<Json>;
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
  const connection = { url: address.url, key: token, fetch: nodeFetch };
  return {
    ...address,
    connection,
    call: (method, path, body) => reached(address, callJson(connection, path, { method, body })),
  };
}

/** Waits for a call; where the server cannot be reached, the error says so. */
export async function reached<T>(address: Address, called: Promise<T>): Promise<T> {
  try {
    return await called;
  } catch (cause) {
    if (AbpError.is(cause)) throw cause;
    const fault = certificateFault(cause);
    if (fault !== undefined) throw untrusted(address, fault, cause);
    throw address.pid === undefined
      ? new CliError('no_server', `${address.url} does not answer`, { hint: 'Does abp serve run there, and is the address right?', cause })
      : noServer(`the server at ${address.url} (pid ${address.pid}) does not answer`, cause);
  }
}

/** Words of OpenSSL and Node for a certificate that is not trusted, has expired, or names another host. */
const CERTIFICATE_FAULT = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

/** Why the certificate of a server was not taken, where that is what went wrong: the server itself answers. */
export function certificateFault(thrown: unknown): string | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string' && CERTIFICATE_FAULT.test(cause.code)) return cause.code;
  return undefined;
}

function untrusted({ url }: Address, fault: string, cause: unknown): CliError {
  const hint = 'Set NODE_EXTRA_CA_CERTS to the file of its certificate (server.cert_file), and call it by a name that the certificate has.';
  return new CliError('no_server', `the server at ${url} answers with a certificate that is not trusted here (${fault})`, { hint, cause });
}

/** The object that a route answers with. */
export function objectOf(value: Json | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw new AbpError('internal', 'the server answered something else than it should');
}

/** The items of the list that a route answers with. */
export function itemsOf(value: Json): readonly JsonObject[] {
  return listIn(objectOf(value).items).map(objectOf);
}

function noServer(message: string, cause?: unknown): CliError {
  return new CliError('no_server', message, { hint: 'Start one with abp serve, or name its home with --home.', cause });
}
