import { existsSync, readFileSync } from 'node:fs';
import { randomToken } from '../base/ids.ts';
import { AbpError } from '../contract/errors.ts';
import { createOnce } from './private-file.ts';

/** The secret that rows of keys are authenticated with. It is never in the database. */
export interface KeySecret {
  readonly value: string;
  /** All homes that share a database were given the same one. */
  readonly shared: boolean;
  /** This home has not used it yet: the keys that are in the database are taken over. */
  readonly isNew: boolean;
  /** They have been. From now on only rows that carry their code are keys. */
  taken(): void;
}

const SHORTEST = 32;

/** The secret that the environment gives to every home of a database, else one of this home's own. */
export function keySecretOf(file: string, given: string | undefined): KeySecret {
  if (given !== undefined && given.length < SHORTEST) {
    throw new AbpError('invalid_request', `ABP_KEY_SECRET must have at least ${SHORTEST} characters; make one with: openssl rand -hex 32`);
  }
  if (given === undefined) createOnce(file, () => randomToken(SHORTEST));
  const value = given ?? readFileSync(file, 'utf8').trim();
  if (value.length < SHORTEST) throw new AbpError('internal', `${file} is damaged; restore it from a backup`);
  const marker = `${file}.${given === undefined ? 'used' : 'shared'}`;
  return {
    value,
    shared: given !== undefined,
    isNew: !existsSync(marker),
    taken: () => createOnce(marker, () => new Date().toISOString()),
  };
}
