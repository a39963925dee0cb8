import type { KeyRotation } from '../../contract/receipts/chain.ts';
import { sealKeyId, signatureCheck } from '../seal/seal-keys.ts';

type Check = (message: string, signature: string) => boolean;

/** The verdict on a signature. */
export type SignatureVerdict = 'good' | 'bad' | 'unknown_key';

/** The keys a verifier was given, and those that a chain of rotations connects with them. */
export class TrustedKeys {
  readonly #checks = new Map<string, Check>();
  readonly #rotations: KeyRotation[] = [];

  /** Keys as 32 bytes in hex. */
  constructor(publicKeys: readonly string[]) {
    for (const publicKey of publicKeys) this.#trust(publicKey);
  }

  #trust(publicKey: string): void {
    this.#checks.set(sealKeyId(publicKey), signatureCheck(publicKey));
  }

  check(keyId: string, message: string, signature: string): SignatureVerdict {
    const check = this.#checks.get(keyId);
    if (check === undefined) return 'unknown_key';
    return check(message, signature) ? 'good' : 'bad';
  }

  /** Takes note of a rotation whose signatures are good: who trusts one of its keys trusts the other. */
  connect(rotation: KeyRotation): void {
    this.#rotations.push(rotation);
    for (let more = true; more; ) more = this.#rotations.some((one) => this.#follow(one));
  }

  #follow({ old_key: old, new_key: next }: KeyRotation): boolean {
    const [knowsOld, knowsNew] = [this.#checks.has(old.id), this.#checks.has(next.id)];
    if (knowsOld === knowsNew) return false;
    this.#trust(knowsOld ? next.public_key : old.public_key);
    return true;
  }
}

/** The fault of a rotation's signatures; undefined when both keys signed. */
export function rotationFault({ old_key: old, new_key: next, signatures }: KeyRotation, message: string): string | undefined {
  for (const [key, name] of [
    [old, 'old'],
    [next, 'new'],
  ] as const) {
    if (sealKeyId(key.public_key) !== key.id) return `the id of its ${name} key is not that of the key`;
  }
  if (!signatureCheck(next.public_key)(message, signatures.new)) return 'the new key did not sign it';
  if (signatures.old !== null && !signatureCheck(old.public_key)(message, signatures.old)) return 'the old key did not sign it';
  return undefined;
}
