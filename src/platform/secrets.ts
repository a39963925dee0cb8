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

  /** The text without any secret in it: a service may echo what it was sent. */
  redact(text: string): string {
    return [...this.#byName.values()].reduce((clean, { name, value }) => clean.replaceAll(value, `[secret ${name}]`), text);
  }
}
