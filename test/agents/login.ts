import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { filesWith, put } from './files.ts';
import { no, notClaimed, type Scenario, type Verdict, yes } from './scenario.ts';
import type { Stage } from './stage.ts';
import { type Arrived, startVendor, type Vendor } from './vendor.ts';

/** A login as the agent itself keeps or takes it. */
interface Login {
  /** Where it is kept, below the home of the user. */
  readonly file?: { readonly path: string; readonly content: JsonObject };
  /** Variables of the user. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the vendor must get in `authorization`. */
  readonly sent: string;
  /** What nobody else may have. */
  readonly secrets: readonly string[];
  /** Which of the vendors of the stage it is for, and the path it calls there. */
  readonly vendor: keyof Vendors;
  readonly path: string;
}

interface Vendors {
  readonly anthropic: Vendor;
  readonly openai: Vendor;
  readonly chatgpt: Vendor;
}

const FUTURE = Date.now() + 10 * 24 * 3600 * 1000;

const OAUTH = {
  access: `sk-ant-oat01-${'a'.repeat(80)}`,
  token: `sk-ant-oat01-${'t'.repeat(80)}`,
  refresh: `sk-ant-ort01-${'r'.repeat(80)}`,
};

const CLAIMS = {
  exp: Math.floor(FUTURE / 1000),
  'https://api.openai.com/auth': { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account-of-me', chatgpt_user_id: 'user-me' },
  email: 'me@example.com',
};
const CHATGPT = { access: jwt({ ...CLAIMS, use: 'access' }), id: jwt({ ...CLAIMS, use: 'id' }), refresh: `rt_${'r'.repeat(80)}` };

const LOGINS: Readonly<Record<string, readonly [Login, ...Login[]]>> = {
  claude: [
    {
      file: {
        path: '.claude/.credentials.json',
        content: {
          claudeAiOauth: {
            accessToken: OAUTH.access,
            refreshToken: OAUTH.refresh,
            expiresAt: FUTURE,
            scopes: ['user:inference', 'user:profile'],
            subscriptionType: 'max',
          },
        },
      },
      sent: `Bearer ${OAUTH.access}`,
      secrets: [OAUTH.access, OAUTH.refresh],
      vendor: 'anthropic',
      path: '/v1/messages?beta=true',
    },
    {
      env: { CLAUDE_CODE_OAUTH_TOKEN: OAUTH.token },
      sent: `Bearer ${OAUTH.token}`,
      secrets: [OAUTH.token],
      vendor: 'anthropic',
      path: '/v1/messages?beta=true',
    },
  ],
  codex: [
    {
      file: {
        path: '.codex/auth.json',
        content: {
          auth_mode: 'chatgpt',
          OPENAI_API_KEY: null,
          tokens: { id_token: CHATGPT.id, access_token: CHATGPT.access, refresh_token: CHATGPT.refresh, account_id: 'account-of-me' },
          last_refresh: new Date().toISOString(),
        },
      },
      sent: `Bearer ${CHATGPT.access}`,
      secrets: [CHATGPT.access, CHATGPT.id, CHATGPT.refresh],
      vendor: 'chatgpt',
      path: '/backend-api/codex/responses',
    },
  ],
};

export const login: Scenario = {
  name: 'login',
  about:
    'the gateway has no key and the agent is logged in at its vendor: the login arrives there unchanged and nowhere else, and nothing of it is kept; `n/a` where it cannot be forwarded, with what is said instead',
  async play(stage) {
    const own = LOGINS[stage.agent];
    if (own === undefined) return await leftAlone(stage);
    const verdicts: Verdict[] = [];
    for (const one of own) verdicts.push(await withVendors(stage, (vendors) => forwarded(stage, one, vendors)));
    return verdicts.find(({ mark }) => mark === 'no') ?? verdicts[0] ?? no('no login to try');
  },
};

async function withVendors<T>(stage: Stage, work: (vendors: Vendors) => Promise<T>): Promise<T> {
  const sim = `${stage.url}/e/sim`;
  const vendors = {
    anthropic: await startVendor(sim),
    openai: await startVendor(sim),
    chatgpt: await startVendor(sim, { strip: '/backend-api/codex', add: '/v1' }),
  };
  try {
    return await work(vendors);
  } finally {
    for (const vendor of Object.values(vendors)) vendor.close();
  }
}

/** `abp env` says why an agent is left alone, without starting it. */
async function leftAlone(stage: Stage): Promise<Verdict> {
  const { out, err } = await stage.abp(['env', stage.agent], { ABP_HOME: stage.abpHome });
  const reason = / directly: ([^;\n]+)/.exec(out)?.[1];
  return reason === undefined ? no(`${out}${err}`) : notClaimed(reason);
}

async function forwarded(stage: Stage, own: Login, vendors: Vendors): Promise<Verdict> {
  const home = join(stage.workspace(), 'abp');
  const config = join(stage.workspace(), 'abp.toml');
  writeFileSync(config, configOf(vendors));
  if (own.file !== undefined) put(join(stage.home, own.file.path), JSON.stringify(own.file.content));
  const env = { ...own.env, ABP_HOME: home, ABP_CONFIG: config, ABP_LOG: 'debug' };
  const { code, out, err } = await stage.abp(['run', stage.agent, 'Say hello', '--json', '--cwd', stage.workspace()], env);
  const result = parseJsonObject(out.trim().split('\n').at(-1) ?? '') ?? {};
  const receipts = parseJsonObject((await stage.abp(['receipts', 'list', '--json'], env)).out);
  const recordings = (await stage.abp(['recordings', 'export'], env)).out;
  const calls = (Array.isArray(receipts?.items) ? receipts.items : []).filter(isJsonObject).filter(({ plane }) => plane === 'gateway');
  const arrived = vendors[own.vendor].arrived;
  const main = arrived.filter(({ path }) => path === own.path);
  const strays = Object.values(vendors).filter((vendor) => vendor !== vendors[own.vendor] && vendor.arrived.length > 0);
  const kept = [
    ...own.secrets.flatMap((secret) => filesWith(home, secret)),
    ...own.secrets.filter((secret) => `${out}${err}${recordings}`.includes(secret)),
  ];
  const checks: readonly (readonly [boolean, string])[] = [
    [code === 0 && result.exitReason === 'completed', `exit code ${code}: ${err.slice(-300)}`],
    [main.length > 0, `nothing arrived at ${own.path}: ${arrived.map(({ path }) => path).join(' ')}`],
    [arrived.every(({ headers }) => headers.authorization === own.sent), 'another credential arrived'],
    [strays.length === 0, 'something went to another vendor'],
    [calls.length > 0 && calls.every(({ mode }) => mode === 'passthrough'), 'a call did not pass through'],
    [main.every((request) => calls.some((call) => sameBytes(call, request))), 'the bytes that arrived are not those of a receipt'],
    [recordings.includes('"format":"abp-recording/1"'), 'nothing was recorded to look into'],
    [kept.length === 0, `the login is kept in ${kept.join(', ')}`],
  ];
  const problems = checks.filter(([good]) => !good).map(([, problem]) => problem);
  return problems.length === 0 ? yes('') : no(problems.join('; '));
}

function sameBytes({ request }: JsonObject, { bodySha256 }: Arrived): boolean {
  return isJsonObject(request) && request.sha256 === bodySha256;
}

function configOf({ anthropic, openai, chatgpt }: Vendors): string {
  return [
    `[engines.claude]\nurl = "${anthropic.url}"`,
    `[engines.openai]\nurl = "${openai.url}"\nlogin_url = "${chatgpt.url}/backend-api/codex"`,
    '[recording]\ndefault = "full"',
  ].join('\n\n');
}

/** The shape of a token; nobody here checks its signature. */
function jwt(claims: JsonObject): string {
  return [JSON.stringify({ alg: 'RS256', typ: 'JWT' }), JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
}
