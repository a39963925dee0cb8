import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonObject } from '../base/json.ts';
import { replaceFile } from './private-file.ts';

/** A server that somebody has signed in to from here, and the secret that it gave. The file is its owner's alone. */
export interface KeptSignIn {
  readonly url: string;
  readonly secret: string;
  readonly user: string;
  readonly expiresAt: string;
}

const fileOf = (homePath: string): string => join(homePath, 'sign-in');

export function readSignIn(homePath: string): KeptSignIn | undefined {
  const { url, secret, user, expiresAt } = parseJsonObject(textOf(fileOf(homePath))) ?? {};
  if (typeof url !== 'string' || typeof secret !== 'string' || typeof user !== 'string' || typeof expiresAt !== 'string') return undefined;
  return { url, secret, user, expiresAt };
}

export function keepSignIn(homePath: string, signIn: KeptSignIn): void {
  replaceFile(fileOf(homePath), JSON.stringify(signIn));
}

export function forgetSignIn(homePath: string): void {
  rmSync(fileOf(homePath), { force: true });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
