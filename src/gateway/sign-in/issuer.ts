import type { ClientAuth, Configuration, IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { AbpError } from '../../contract/errors.ts';
import type { OidcConfig } from './oidc-config.ts';

type Library = typeof import('openid-client');
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** Somebody of whom the issuer says who it is. */
export interface Person {
  /** Issuer and subject: no other person ever has the same. */
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A browser brings this back from the issuer. It keeps it itself, sealed, so that no server has to remember people who never come back. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface DeviceSignIn {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | null;
  readonly expiresIn: number;
  readonly interval: number;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const DEFAULT_INTERVAL_S = 5;

/** The issuer that people sign in with. It is discovered when somebody first does; the library is loaded then, too. */
export class Issuer {
  readonly #config: OidcConfig;
  #ready: Promise<{ readonly library: Library; readonly server: Configuration }> | undefined;

  constructor(config: OidcConfig) {
    this.#config = config;
  }

  /** Where the browser is sent, and what it must bring back. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly pending: PendingSignIn }> {
    const { library, server } = await this.#discovered();
    const pending = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
    const url = library.buildAuthorizationUrl(server, {
      redirect_uri: redirectUri,
      scope: this.#config.scopes.join(' '),
      code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    });
    return { url, pending };
  }

  /** Who came back. The address is the one that the browser was sent to, with what the issuer added. */
  async finish(address: URL, { state, nonce, verifier }: PendingSignIn): Promise<Person> {
    const { library, server } = await this.#discovered();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    return await this.#person(() => library.authorizationCodeGrant(server, address, checks));
  }

  async beginDevice(): Promise<DeviceSignIn> {
    const { library, server } = await this.#discovered();
    if (server.serverMetadata().device_authorization_endpoint === undefined) {
      throw new AbpError('unprocessable', `The issuer ${this.#config.issuer} offers no sign-in for commands (device authorization).`);
    }
    const begun = await asked(this.#config, () => library.initiateDeviceAuthorization(server, { scope: this.#config.scopes.join(' ') }));
    return {
      deviceCode: begun.device_code,
      userCode: begun.user_code,
      verificationUri: begun.verification_uri,
      verificationUriComplete: begun.verification_uri_complete ?? null,
      expiresIn: begun.expires_in,
      interval: begun.interval ?? DEFAULT_INTERVAL_S,
    };
  }

  /** Who confirmed the code; `pending` while nobody has, `slow_down` when the issuer is asked too often. */
  async pollDevice(deviceCode: string): Promise<Person | 'pending' | 'slow_down'> {
    const { library, server } = await this.#discovered();
    try {
      return await this.#person(() => library.genericGrantRequest(server, DEVICE_GRANT, { device_code: deviceCode }));
    } catch (error) {
      const said = AbpError.is(error) ? error.details.issuer_error : undefined;
      if (said === 'authorization_pending') return 'pending';
      if (said === 'slow_down') return 'slow_down';
      throw error;
    }
  }

  async #person(grant: () => Promise<Tokens>): Promise<Person> {
    const { library, server } = await this.#discovered();
    return await asked(this.#config, async () => {
      const tokens = await grant();
      const told = tokens.claims();
      if (told === undefined) throw new AbpError('unauthenticated', 'The issuer told nobody’s identity; does `oidc.scopes` have openid?');
      const more = await this.#userInfo(library, server, tokens.access_token, told);
      return { subject: `${told.iss} ${told.sub}`, claims: { ...more, ...told } };
    });
  }

  /** Many issuers tell groups and addresses only where they are asked for them. */
  async #userInfo(library: Library, server: Configuration, token: string, told: IDToken): Promise<Readonly<Record<string, unknown>>> {
    const { groups_claim: groups, user_claim: user } = this.#config;
    const isKnown = told[groups] !== undefined && told[user] !== undefined;
    if (isKnown || server.serverMetadata().userinfo_endpoint === undefined) return {};
    return await library.fetchUserInfo(server, token, told.sub);
  }

  #discovered(): Promise<{ readonly library: Library; readonly server: Configuration }> {
    this.#ready ??= discover(this.#config).catch((error: unknown) => {
      // The issuer may be back for the next one.
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }
}

async function discover(config: OidcConfig): Promise<{ readonly library: Library; readonly server: Configuration }> {
  const library = await import('openid-client');
  const { issuer, client_id: id } = config;
  const auth = clientAuth(library, config);
  // The configuration takes an address without TLS on this machine alone.
  const execute = [library.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : [])];
  const server = await asked(config, () => library.discovery(new URL(issuer), id, undefined, auth, { execute }));
  return { library, server };
}

/** How this server shows the issuer who it is. Some issuers take only the way that a client was registered with. */
function clientAuth(library: Library, { client_secret: secret, client_auth: chosen }: OidcConfig): ClientAuth {
  if (secret === undefined) return library.None();
  const ways = { post: library.ClientSecretPost(secret), basic: library.ClientSecretBasic(secret) };
  return (server, ...request) => {
    // An issuer that names no way takes HTTP Basic (OpenID Connect Discovery 1.0, section 3).
    const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true;
    ways[chosen ?? (isPost ? 'post' : 'basic')](server, ...request);
  };
}

/** Errors that say the issuer itself was not reached. */
const UNREACHED = /^(?:ECONN|ENOTFOUND|EAI_|ETIMEDOUT|UND_ERR|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

/** Waits for the issuer, and words what it refuses. No secret is in its answers' errors, and none of ours is repeated. */
async function asked<T>({ issuer }: OidcConfig, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (AbpError.is(error)) throw error;
    const fault = faultOf(error);
    if (fault.unreached) {
      throw new AbpError('overloaded', `The issuer ${issuer} could not be asked: ${fault.message}. Try again in a moment.`, { issuer });
    }
    const about = { issuer, ...(fault.code === undefined ? {} : { issuer_error: fault.code }) };
    throw new AbpError('unauthenticated', `The sign-in was refused: ${fault.message}.${REMEDIES[fault.code ?? ''] ?? ''}`, about);
  }
}

/** What an operator does about some words of an issuer. */
const REMEDIES: Readonly<Record<string, string>> = {
  invalid_client:
    ' The issuer does not know this server: compare client_id, client_secret and client_auth in [oidc] of its abp.toml with the client at the issuer.',
  unauthorized_client: ' The client at the issuer may not sign people in like this: allow it there (the device grant for abp login).',
};

interface Fault {
  readonly message: string;
  readonly code: string | undefined;
  readonly unreached: boolean;
}

/** The word of the issuer where it said one, else the reason that the library gives. */
function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: 'the issuer answered something that is no answer', code: undefined, unreached: false };
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('error' in cause && typeof cause.error === 'string') {
      const said = 'error_description' in cause && typeof cause.error_description === 'string' ? ` (${cause.error_description})` : '';
      return { message: `${cause.error}${said}`, code: cause.error, unreached: false };
    }
    if ('code' in cause && typeof cause.code === 'string' && UNREACHED.test(cause.code)) {
      return { message: cause.code, code: undefined, unreached: true };
    }
  }
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return { message: `${error.message}${cause}`, code: undefined, unreached: false };
}
