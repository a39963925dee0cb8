/** The command that starts Node with these arguments as somebody whom the rights of files hold for, which they do not for root. */
export function asOrdinaryUser(args: readonly string[]): readonly [command: string, ...args: string[]] {
  if (process.getuid?.() !== 0) return [process.execPath, ...args];
  const rights = '-dac_override,-dac_read_search';
  return ['setpriv', `--bounding-set=${rights}`, `--inh-caps=${rights}`, '--', process.execPath, ...args];
}
