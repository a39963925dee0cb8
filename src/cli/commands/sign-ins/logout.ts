import { AbpError } from '../../../contract/errors.ts';
import { openHome } from '../../../home/home.ts';
import { forgetSignIn, readSignIn } from '../../../home/kept-sign-in.ts';
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
    try {
      await clientOf({ url: signIn.url }, signIn.secret).call('DELETE', '/v1/sign-ins/current');
    } catch (error) {
      // One that has ended on the server is to be forgotten here all the more.
      if (!AbpError.is(error) || (error.code !== 'unauthenticated' && error.code !== 'not_found')) throw error;
    }
    forgetSignIn(home.path);
    output.print({ url: signIn.url, user: signIn.user }, () => `${signIn.user} is signed out of ${signIn.url}.`);
    return EXITS.ok.code;
  },
});
