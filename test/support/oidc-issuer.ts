import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { call } from './http-call.ts';

export interface Account {
  readonly sub: string;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly groups: readonly string[];
}

/** A real OpenID Connect issuer on loopback. Whoever comes is signed in as `account`, without being asked. */
export interface TestIssuer {
  readonly url: string;
  /** Who is in front of the browser. */
  account: Account;
  /** Changes the identity token before it is sent; signed again with the issuer's key, or left with the old signature. */
  tamper: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined;
  keepSignature: boolean;
  /** Takes the server whose people sign in here; as a client that shows its secret in one way alone. */
  register(redirectUri: string, way?: 'client_secret_post' | 'client_secret_basic'): void;
  close(): Promise<void>;
}

/** The secret has characters that HTTP Basic must write otherwise. */
export const CLIENT = { id: 'abp', secret: 'the secret/of this+server: at-the%issuer' };

/** `host`: a name of this machine; another than that of the server makes the issuer another site to a browser. */
export async function startIssuer(account: Account, host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<TestIssuer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => answer?.(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`; // a server that listens on TCP
  const issuer: TestIssuer = {
    url,
    account,
    tamper: undefined,
    keepSignature: false,
    register: (redirectUri, way = 'client_secret_post') => {
      const key = { ...privateKey.export({ format: 'jwk' }), kid: 'test' };
      const provider = new Provider(url, configurationOf(issuer, { redirectUri, way }, key));
      const callback = provider.callback();
      answer = (request, response) => {
        if (request.url?.startsWith('/interaction/') === true) {
          interact(provider, issuer, request, response).catch((error: unknown) => response.destroy(error as Error));
          return;
        }
        if (issuer.tamper !== undefined && request.url === '/token')
          rewriteTokens(response, issuer, privateKey.export({ type: 'pkcs8', format: 'pem' }));
        void callback(request, response);
      };
    },
    close: () => new Promise((done) => server.close(() => done()).closeAllConnections()),
  };
  return issuer;
}

interface Registered {
  readonly redirectUri: string;
  readonly way: 'client_secret_post' | 'client_secret_basic';
}

function configurationOf(issuer: TestIssuer, { redirectUri, way }: Registered, key: object): Configuration {
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [redirectUri],
    response_types: ['code' as const],
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: way,
  };
  return {
    clients: [client],
    clientAuthMethods: [way],
    jwks: { keys: [key] },
    cookies: { keys: ['a key of the test issuer'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => false },
    features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...issuer.account, groups: [...issuer.account.groups] }) }),
  };
}

/** Says yes to everything, as the account of the moment. */
async function interact(provider: Provider, issuer: TestIssuer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: issuer.account.sub } }, { mergeWithLastSubmission: false });
    return;
  }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId: session?.accountId ?? issuer.account.sub, clientId: String(params.client_id) });
  grant.addOIDCScope('openid profile email groups');
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

function rewriteTokens(response: ServerResponse, issuer: TestIssuer, key: string | Buffer): void {
  const end = response.end.bind(response);
  response.end = ((body: string | Buffer | undefined) => {
    const answer = JSON.parse(String(body ?? '{}'));
    if (typeof answer.id_token === 'string') answer.id_token = rewritten(answer.id_token, issuer, key);
    const text = JSON.stringify(answer);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end; // the issuer's framework ends an answer with its one body
}

function rewritten(token: string, { tamper, keepSignature }: TestIssuer, key: string | Buffer): string {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify(tamper?.(claims) ?? claims)).toString('base64url');
  if (keepSignature) return `${head}.${changed}.${signature}`;
  return `${head}.${changed}.${createSign('RSA-SHA256').update(`${head}.${changed}`).sign(key, 'base64url')}`;
}

interface Opening {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A browser that keeps cookies by origin and follows redirects, until an answer of the server that it came for. */
export class TestBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  async open(url: string, init: Opening = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...init.headers, ...(cookie === '' ? {} : { cookie }) };
    // The platform's `fetch` sets the headers that tell of which site a navigation comes.
    const { status, rawHeaders, body } = await call(url, { ...init, headers: Object.entries(headers).flat() });
    const pairs = Array.from(
      { length: rawHeaders.length / 2 },
      (_, at) => [rawHeaders[2 * at] ?? '', rawHeaders[2 * at + 1] ?? ''] as [string, string],
    );
    const answer = new Response(status === 204 ? null : new Uint8Array(body), { status, headers: pairs });
    for (const header of answer.headers.getSetCookie()) {
      const [pair = '', ...flags] = header.split('; ');
      const [name = '', ...value] = pair.split('=');
      if (value.join('=') === '' || flags.some((flag) => flag.toLowerCase() === 'max-age=0')) jar.delete(name);
      else jar.set(name, value.join('='));
    }
    return answer;
  }

  /** Follows redirects as long as they do not lead to `stop`, and returns where the last one leads. */
  async follow(url: string, stop: (url: URL) => boolean): Promise<URL> {
    for (let at = new URL(url), steps = 0; ; steps += 1) {
      if (stop(at) || steps > 20) return at;
      const answer = await this.open(at.href);
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`${at} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
      at = new URL(location, at);
    }
  }

  cookies(origin: string): ReadonlyMap<string, string> {
    return this.#jars.get(origin) ?? new Map();
  }
}
