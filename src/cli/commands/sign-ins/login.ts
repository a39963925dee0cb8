import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import { openHome } from '../../../home/home.ts';
import { keepSignIn } from '../../../home/kept-sign-in.ts';
import { clientOf, objectOf, type ServerClient } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { optional } from '../../parameter.ts';

/** Seconds by which RFC 8628 has a client lengthen its pause when the issuer says that it asks too often. */
const SLOWER_S = 5;

export const command = defineCommand({
  arguments: { url: optional('[url]', 'the server to sign in to (default the one of this home)') },
  options: {},
  examples: ['abp login https://abp.example.com', 'abp login'],
  async run({ io, output, homePath }, { url }) {
    const home = openHome({ path: homePath });
    const address = url ?? home.readAddress()?.url;
    if (address === undefined || !URL.canParse(address)) {
      throw new CliError('usage', address === undefined ? 'no server is running for this home' : `'${address}' is not an address`, {
        hint: 'Name the server: abp login https://abp.example.com',
      });
    }
    const server = clientOf({ url: address.replace(/\/$/, '') });
    const begun = objectOf(await server.call('POST', '/v1/sign-ins/device', { label: hostname() }));
    io.stderr.write(`${invitation(begun)}\n`);
    const { secret, user, role, expires_at: expiresAt } = await confirmed(server, begun);
    keepSignIn(home.path, { url: server.url, secret: String(secret), user: String(user), expiresAt: String(expiresAt) });
    // The secret is in the file, which is nobody else's business.
    output.print({ url: server.url, user: user ?? null, role: role ?? null, expires_at: expiresAt ?? null }, (done) =>
      [`Signed in to ${done.url} as ${done.user} (${done.role}) until ${done.expires_at}.`, 'abp logout ends it.'].join('\n'),
    );
    return EXITS.ok.code;
  },
});

function invitation({ user_code: code, verification_uri: place, verification_uri_complete: whole }: JsonObject): string {
  const direct = typeof whole === 'string' ? `\n  or open ${whole}` : '';
  return `Open ${place} in a browser and enter the code ${code}${direct}\nWaiting until you have …`;
}

/** Asks until somebody has confirmed the code. */
async function confirmed(server: ServerClient, { device, interval_s: interval, expires_in_s: life }: JsonObject): Promise<JsonObject> {
  let pause = Number(interval);
  for (const deadline = Date.now() + Number(life) * 1000; Date.now() < deadline; ) {
    await sleep(pause * 1000);
    const answer: Json = await server.call('POST', '/v1/sign-ins/device/token', { device: String(device) });
    if (!isJsonObject(answer)) break;
    if (answer.status === 'signed_in') return answer;
    if (answer.slow_down === true) pause += SLOWER_S;
  }
  throw new CliError('no_sign_in', 'nobody has confirmed the code in time', { hint: 'Run abp login again.' });
}
