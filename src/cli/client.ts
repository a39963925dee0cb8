import { isJsonObject, type Json, type JsonObject, listIn } from '../base/json.ts';
import { nodeFetch } from '../base/node-fetch.ts';
import { packageVersion } from '../base/own-files.ts';
import { CERTIFICATE_FAULT, OTHER_CERTIFICATE } from '../base/pinned-certificates.ts';
import { type Call, type Connection, callJson, getDocument } from '../client/http.ts';
import { AbpError } from '../contract/errors.ts';
import type { ServerAddress } from '../home/address.ts';
import { type Home, openHome } from '../home/home.ts';
import { readSignIn } from '../home/kept-sign-in.ts';
import { CliError } from './failure.ts';

/** Where a server is; without a number of a process it is not one of this machine's homes. `user`: who has signed in to it from here. */
export type Address = Pick<ServerAddress, 'url'> & Partial<ServerAddress> & { readonly user?: string };

/** The server that the commands of a home go to, with the secret by which it knows them. */
export interface ServingServer {
  readonly address: Address;
  readonly secret: string;
}

/** A live server, called with the token of its home or with a key. */
export interface ServerClient extends Address {
  readonly connection: Connection;
  /** The answer's JSON; an error answer is thrown as the error it carries. */
  call(method: NonNullable<Call['method']>, path: string, body?: Json): Promise<Json>;
  /** A document of the contract; errors as with `call`. */
  document<T>(path: string): Promise<T>;
}

/** The home's own server, else the one that somebody signed in to from here; undefined when there is neither. */
export function serverOf(home: Pick<Home, 'path' | 'token' | 'readAddress'>): ServingServer | undefined {
  const address = home.readAddress();
  if (address !== undefined) return { address, secret: home.token };
  const signIn = readSignIn(home.path);
  return signIn && { address: { url: signIn.url, user: signIn.user }, secret: signIn.secret };
}

/** The client of the server that the commands of the home go to; throws `no_server` when there is none. */
export function connect(options: { readonly homePath?: string | undefined }): ServerClient {
  const serving = serverOf(openHome({ path: options.homePath }));
  if (serving === undefined) throw noServer('no server is running for this home');
  return clientOf(serving.address, serving.secret);
}

/** A client of any address; without a token the server takes it for an unkeyed caller. */
export function clientOf(address: Address, token?: string): ServerClient {
  const connection = { url: address.url, key: token, fetch: nodeFetch };
  const asked = async <T>(called: Promise<T>): Promise<T> => {
    try {
      return await reached(address, called);
    } catch (error) {
      throw (await otherVersion(connection, error)) ?? error;
    }
  };
  return {
    ...address,
    connection,
    call: (method, path, body) => asked(callJson(connection, path, { method, body })),
    document: (path) => asked(getDocument(connection, path)),
  };
}

/** How a server says that it has no such path, or no such member of a query. */
const NOT_UNDERSTOOD = /^There is no path |is not a known field/;

/** A question that the server does not understand is asked by a command of another version, where the two differ. */
async function otherVersion(connection: Connection, error: unknown): Promise<CliError | undefined> {
  if (!AbpError.is(error) || !NOT_UNDERSTOOD.test(error.message)) return undefined;
  const health = await callJson(connection, '/healthz').catch(() => undefined);
  const version = isJsonObject(health) ? health.version : undefined;
  if (typeof version !== 'string' || version === packageVersion()) return undefined;
  return new CliError(
    'other_version',
    `the server at ${connection.url} is version ${version}, this command is ${packageVersion()}: ${error.message}`,
    {
      hint: 'Stop the server and start it again with the version of this command, or call the abp of its version.',
      cause: error,
    },
  );
}

/** Waits for a call; where the server cannot be reached, the error says so. */
export async function reached<T>(address: Address, called: Promise<T>): Promise<T> {
  try {
    return await called;
  } catch (cause) {
    if (AbpError.is(cause)) throw signInEnded(address, cause) ?? cause;
    const untrusted = certificateError(address.url, cause);
    if (untrusted !== undefined) throw untrusted;
    throw address.pid === undefined
      ? new CliError('no_server', `${address.url} does not answer`, { hint: 'Does abp serve run there, and is the address right?', cause })
      : noServer(`the server at ${address.url} (pid ${address.pid}) does not answer`, cause);
  }
}

/** A secret that a sign-in gave, and that opens nothing any more. */
function signInEnded({ url, user }: Address, cause: AbpError): CliError | undefined {
  if (user === undefined || cause.code !== 'unauthenticated') return undefined;
  return new CliError('no_sign_in', `the sign-in of ${user} at ${url} has ended`, {
    hint: `abp login ${url} signs you in again; abp logout goes back to this home.`,
    cause,
  });
}

/** Why the certificate of a server was not taken, where that is what went wrong: the server itself answers. */
export function certificateFault(thrown: unknown): string | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string' && CERTIFICATE_FAULT.test(cause.code)) return cause.code;
  return undefined;
}

/** The same as an error of the command line. */
export function certificateError(url: string, cause: unknown): CliError | undefined {
  const fault = certificateFault(cause);
  if (fault === undefined) return undefined;
  const [message, hint] =
    fault === OTHER_CERTIFICATE
      ? [
          `${url} shows another certificate than the server of this home has`,
          'Another program answers there. If the certificate of the server was replaced a moment ago, try again.',
        ]
      : [
          `the server at ${url} answers with a certificate that is not trusted here: ${CERTIFICATE_WORDS[fault] ?? fault}`,
          'Set NODE_EXTRA_CA_CERTS to the file of its certificate (server.cert_file), and call it by a name that the certificate has.',
        ];
  return new CliError('no_server', message, { hint, cause, details: { url, fault } });
}

/** Faults of certificates in words; others keep the word of OpenSSL. */
const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'an authority that this machine does not know has signed it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'an authority that this machine does not know has signed it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'an authority that this machine does not know has signed it',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is made for another name',
};

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
  return new CliError('no_server', message, {
    hint: 'Start one with abp serve, name its home with --home, or sign in to one with abp login URL.',
    cause,
  });
}
