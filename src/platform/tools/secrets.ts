import { globMatch } from '../../base/glob.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { secretForms } from '../../base/redact.ts';
import type { ToolBehalf } from './tool.ts';

/** Which calls may carry a secret. What is not named is not asked. */
interface SecretTerms {
  /** Host names, with a port where it is not the usual one. */
  readonly hosts: readonly string[];
  readonly methods?: readonly string[] | undefined;
  /** Globs. */
  readonly paths?: readonly string[] | undefined;
  /** Ids of keys, and `local` for callers without one. */
  readonly keys?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A value that tools may send and nobody may read. It goes where its operator said, and nowhere else. */
export interface Secret extends SecretTerms {
  readonly name: string;
  readonly value: string;
}

/** Callers without a key, in `keys`. */
const UNKEYED = 'local';
/** A service may take these for a slash or a dot, and lead the call to another path. */
const AMBIGUOUS = /%(?:2f|5c|2e)/i;

/** Why a call may not carry the secret; undefined where it may. */
export function refusedPlace({ name, hosts, methods, paths }: Secret, { host, pathname }: URL, method: string): string | undefined {
  if (!hosts.includes(host)) return `The secret ${name} may not be sent to ${host}.`;
  if (methods !== undefined && !methods.includes(method)) return `The secret ${name} may not be sent with ${method}.`;
  if (paths === undefined) return undefined;
  const named = !AMBIGUOUS.test(pathname) && paths.some((pattern) => globMatch(pattern, pathname));
  return named ? undefined : `The secret ${name} may not be sent to ${pathname}.`;
}

/** Why a caller may not use the secret; undefined where it may. */
export function refusedCaller({ name, keys, tags }: Secret, behalf: Pick<ToolBehalf, 'keyId' | 'tags'> | undefined): string | undefined {
  if (keys === undefined && tags === undefined) return undefined;
  if (keys?.includes(behalf?.keyId ?? UNKEYED) === true) return undefined;
  if (behalf?.tags?.some((tag) => tags?.includes(tag)) === true) return undefined;
  return `The secret ${name} may not be used by this caller; the operator names the keys and tags that may.`;
}

/** The operator's secrets, by name. */
export class Secrets {
  readonly #byName: ReadonlyMap<string, Secret>;
  /** Longest first: one may hold another. */
  readonly #forms: readonly { readonly name: string; readonly form: string }[];

  constructor(secrets: readonly Secret[] = []) {
    this.#byName = new Map(secrets.map((secret) => [secret.name, secret]));
    this.#forms = secrets
      .flatMap(({ name, value }) => secretForms(value, Math.max(1, Math.min(8, value.length))).map((form) => ({ name, form })))
      .toSorted((a, b) => b.form.length - a.form.length);
  }

  find(name: string): Secret | undefined {
    return this.#byName.get(name);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** The text without any secret in it, in any form that it may have there: a service may echo what it was sent. */
  redact(text: string): string {
    return this.#forms.reduce((clean, { name, form }) => (clean.includes(form) ? clean.replaceAll(form, `[secret ${name}]`) : clean), text);
  }

  redactJson(value: Json): Json {
    const text = JSON.stringify(value);
    const clean = this.redact(text);
    const parsed = clean === text ? undefined : parseJson(clean);
    return parsed?.ok === true ? parsed.value : parsed === undefined ? value : clean;
  }
}
