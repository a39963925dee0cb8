import { AbpError } from '../../../contract/errors.ts';
import { openHome } from '../../../home/home.ts';
import { forgetSignIn, type KeptSignIn, readSignIn } from '../../../home/kept-sign-in.ts';
import { clientOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp logout'],
  async run({ output, homePath }) {
    const home = openHome({ path: homePath });
    const signIn = readSignIn(home.path);
    if (signIn === undefined) throw new CliError('no_sign_in', 'nobody is signed in here', { hint: 'abp login URL signs you in.' });
    const { url, user, expiresAt } = signIn;
    const isTold = await told(signIn);
    forgetSignIn(home.path);
    output.print({ url, user, ended_there: isTold }, () =>
      isTold
        ? `${user} is signed out of ${url}.`
        : `This home has forgotten the sign-in of ${user}; ${url} does not answer, and keeps it until ${expiresAt} unless abp sign-ins end or the console ends it.`,
    );
    return EXITS.ok.code;
  },
});

/** Whether the server knows that the sign-in is over. One that has ended there is to be forgotten here all the more; so is one of a server that is gone. */
async function told({ url, secret }: KeptSignIn): Promise<boolean> {
  try {
    await clientOf({ url }, secret).call('DELETE', '/v1/sign-ins/current');
    return true;
  } catch (error) {
    if (error instanceof CliError && error.code === 'no_server') return false;
    if (AbpError.is(error) && (error.code === 'unauthenticated' || error.code === 'not_found')) return true;
    throw error;
  }
}
