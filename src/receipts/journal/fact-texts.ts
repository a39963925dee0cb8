import type { Json } from '../../base/json.ts';
import { type Redactor, redactor, secretsLearned } from '../../base/redact.ts';

const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 128;
/** Accounts of calls that are alike are the same text; those of a conversation change with every message of it. */
const MOST_KNOWN_VALUES = 200;
const LONGEST_KNOWN_VALUE = 4096;
/** The most that a receipt keeps of a name or a message that a caller, an engine or a program chose. */
const LONGEST_NAME = 512;
/** How much of it is searched for secrets before: one that is cut in the middle would not be recognised. */
const LONGEST_READ = 8192;

/** JSON texts of what a fact holds, in ASCII. What callers and engines chose themselves is written without the secrets in it. */
export class FactTexts {
  readonly #redactor: Redactor;
  /** Tasks, engines, models and reasons come again and again; looking their text up is much less code to run than making it. */
  readonly #known = new Map<string, string>();
  /** The same for values, by their JSON text: to look for secrets in one takes longer than to make its text. */
  readonly #knownValues = new Map<string, string>();
  /** The same for values that nobody can change any more, by themselves: those of answers that are alike. */
  #knownObjects = new WeakMap<object, string>();
  #learned = secretsLearned();

  constructor(secrets: Redactor = redactor()) {
    this.#redactor = secrets;
  }

  name(name: string | null): string {
    if (name === null) return 'null';
    this.#forgetOld();
    const text = this.#known.get(name);
    if (text !== undefined) return text;
    const made = jsonText(bounded(this.#redactor.text(bounded(name, LONGEST_READ)), LONGEST_NAME));
    if (this.#known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) this.#known.set(name, made);
    return made;
  }

  list(list: readonly (string | object)[]): string {
    return list.length === 0 ? '[]' : this.value(list);
  }

  /** A value of JSON alone. Nearly none holds a secret, and whether one does is seen much faster than each of its texts is read. */
  value(value: object | null): string {
    if (value === null) return 'null';
    this.#forgetOld();
    const known = this.#knownObjects.get(value);
    if (known !== undefined) return known;
    const made = this.#written(value);
    if (Object.isFrozen(value)) this.#knownObjects.set(value, made);
    return made;
  }

  #written(value: object): string {
    const text = JSON.stringify(value);
    if (text.length > LONGEST_KNOWN_VALUE) return this.#searched(text, value);
    const known = this.#knownValues.get(text);
    if (known !== undefined) return known;
    const made = this.#searched(text, value);
    if (this.#knownValues.size >= MOST_KNOWN_VALUES) this.#knownValues.clear();
    this.#knownValues.set(text, made);
    return made;
  }

  #searched(text: string, value: object): string {
    if (!this.#redactor.holdsSecret(Buffer.from(text))) return ascii(text);
    return ascii(JSON.stringify(this.#redactor.value(value as Json))); // facts hold JSON values only
  }

  /** Texts from before a secret was learned were not searched for it. */
  #forgetOld(): void {
    const learned = secretsLearned();
    if (learned === this.#learned) return;
    this.#learned = learned;
    this.#known.clear();
    this.#knownValues.clear();
    this.#knownObjects = new WeakMap();
  }
}

/** The text, or its beginning with a mark. */
function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** JSON text of a value, in ASCII. Half a surrogate pair has no UTF-8 form, hence none in RFC 8785: it becomes U+FFFD. */
export function jsonText(value: string | object | null): string {
  return value === null ? 'null' : ascii(JSON.stringify(value));
}

const BEYOND_ASCII = /[\u0080-\uffff]/g;

/** Half a surrogate pair, which JSON.stringify escapes; an even number of backslashes before it would make it plain text. */
const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

function ascii(text: string): string {
  const whole = text.includes('\\ud') ? text.replace(HALF_PAIR, '$1\\ufffd') : text;
  const made = whole.replace(BEYOND_ASCII, escaped);
  // A string made from one with wide characters keeps their width, and so would every line it becomes a part of.
  return made.length === whole.length ? made : Buffer.from(made, 'latin1').toString('latin1');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
