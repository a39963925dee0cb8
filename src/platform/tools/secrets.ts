import { type Json, parseJson } from '../../base/json.ts';

/** A value that tools may send and nobody may read. It goes to the hosts its operator named, and nowhere else. */
export interface Secret {
  readonly name: string;
  readonly value: string;
  /** Host names, with a port where it is not the usual one. */
  readonly hosts: readonly string[];
}

/** The operator's secrets, by name. */
export class Secrets {
  readonly #byName: ReadonlyMap<string, Secret>;

  constructor(secrets: readonly Secret[] = []) {
    this.#byName = new Map(secrets.map((secret) => [secret.name, secret]));
  }

  find(name: string): Secret | undefined {
    return this.#byName.get(name);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** The text without any secret in it, also as JSON or an address would write it: a service may echo what it was sent. */
  redact(text: string): string {
    return [...this.#byName.values()].reduce(
      (clean, { name, value }) => formsOf(value).reduce((rest, form) => rest.replaceAll(form, `[secret ${name}]`), clean),
      text,
    );
  }

  redactJson(value: Json): Json {
    const text = JSON.stringify(value);
    const clean = this.redact(text);
    const parsed = clean === text ? undefined : parseJson(clean);
    return parsed?.ok === true ? parsed.value : parsed === undefined ? value : clean;
  }
}

/** The value and how it looks inside JSON and inside an address, longest first: one may hold another. */
function formsOf(value: string): string[] {
  const inQuery = new URLSearchParams({ '': value }).toString().slice(1);
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed()), inQuery]);
  return [...forms].filter((form) => form !== '').toSorted((a, b) => b.length - a.length);
}
