/**
 * The name of a suite or test that cannot run everywhere. It carries the reason why it does not run here, which the summary at the end of a
 * test run collects: `describe.skipIf(missing !== undefined)(needing('Python', missing), …)`.
 */
export function needing(name: string, missing: string | undefined): string {
  return missing === undefined ? name : `${name} [skipped: ${missing}]`;
}

/** The reason that a full name carries; undefined when none does. */
export function reasonIn(fullName: string): string | undefined {
  return /\[skipped: (.+?)\](?: >|$)/.exec(fullName)?.[1];
}

/** Why a test of POSIX rules does not run on Windows. */
export const ON_WINDOWS = process.platform === 'win32' ? 'needs the file modes and signals of POSIX' : undefined;
export const NOT_LINUX = process.platform === 'linux' ? undefined : 'needs /proc and the rules of Linux';
