import type { Logger } from 'pino';
import { uuidv7Hex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Keeper } from '../../receipts/keeper/keeper.ts';
import { addPending, endPending, endUnknown, hasPending } from '../../store/audit/audit-pending.ts';
import type { Store } from '../../store/store.ts';
import { maySee } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';

/** The server itself, where nobody asked. */
export const SYSTEM = { kind: 'system', id: null } as const;

/** Who asks for the same again within this time reads on. */
const READING_ON_MS = 10 * 60_000;
const MOST_FOLLOWED = 10_000;

/** Something that is to be recorded. */
export interface AuditAct {
  readonly action: string;
  readonly target?: string | null;
  readonly details?: JsonObject;
}

export interface AuditLogOptions {
  readonly store: Store;
  readonly keeper: Pick<Keeper, 'sealAudit'>;
  readonly node: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Takes secrets out of a text. */
  readonly clean: (text: string) => string;
}

/**
 * Who changed what, and who read what belongs to others, as entries of the signed chain. A record is stored before the act, so that no act goes
 * without one, and is sealed after it; a process that is killed in between leaves a record whose outcome is unknown.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  /** Who reads what, and when that was last recorded. */
  readonly #followed = new Map<string, number>();
  readonly #startedAt = Date.now();

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** Seals what an earlier process left. */
  async open(): Promise<void> {
    const { store, node } = this.#options;
    await endUnknown(store, node, this.#startedAt);
    if (await hasPending(store)) this.#seal();
  }

  /** Does the work between the beginning of its record and the end. `targetOf` finds in the result what the act made. */
  async around<T>(
    principal: Principal | typeof SYSTEM,
    act: AuditAct,
    work: () => Promise<T>,
    targetOf?: (result: T) => string | undefined,
  ): Promise<T> {
    const { store } = this.#options;
    const id = await this.#begin(principal, act, null);
    try {
      const result = await work();
      await endPending(store, id, { outcome: 'done', target: act.target ?? targetOf?.(result) ?? null, error: null });
      return result;
    } catch (error) {
      const code = AbpError.is(error) ? error.code : 'internal';
      await endPending(store, id, { outcome: 'failed', target: act.target ?? null, error: code });
      throw error;
    } finally {
      this.#seal();
    }
  }

  /** An act that is over when it is recorded. */
  async note(principal: Principal | typeof SYSTEM, act: AuditAct): Promise<void> {
    await this.#begin(principal, act, 'done');
    this.#seal();
  }

  /** Somebody is about to read contents of a run. One's own need no record. */
  async reads(principal: Principal, keyId: string | null, act: AuditAct): Promise<void> {
    if (!isOwn(principal, keyId)) await this.note(principal, { ...act, details: { ...act.details, key: keyId } });
  }

  /** Somebody is about to read what a run or a session says, and may ask again and again while it goes on: that is one record. */
  async follows(principal: Principal, keyId: string | null, act: AuditAct): Promise<void> {
    if (isOwn(principal, keyId)) return;
    const name = JSON.stringify([actorOf(principal), act.target, act.details]);
    const now = performance.now();
    if (now - (this.#followed.get(name) ?? Number.NEGATIVE_INFINITY) < READING_ON_MS) return;
    await this.reads(principal, keyId, act);
    if (this.#followed.size >= MOST_FOLLOWED) this.#followed.clear();
    this.#followed.set(name, now);
  }

  /** Resolves when all records that have ended are in the chain. */
  async sealed(): Promise<void> {
    await this.#options.keeper.sealAudit();
  }

  async #begin(
    principal: Principal | typeof SYSTEM,
    { action, target = null, details = {} }: AuditAct,
    outcome: 'done' | null,
  ): Promise<string> {
    const { store, node, clean } = this.#options;
    const at = Date.now();
    const id = `audit_${uuidv7Hex(at)}`;
    const record = clean(JSON.stringify({ by: actorOf(principal), action, details }, wellFormed));
    await addPending(store, { id, node, at, record, outcome, target: target?.toWellFormed() ?? null, error: null });
    return id;
  }

  #seal(): void {
    this.#options.keeper
      .sealAudit()
      .catch((error: unknown) => this.#options.log.warn({ error }, 'records of the audit log are not sealed yet; they are kept'));
  }
}

/** Half a character has no place in the canonical form of an entry. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** All keys of a user are the user's. Runs without a key belong to the people who work on this machine. */
function isOwn(principal: Principal, keyId: string | null): boolean {
  if (keyId === null) return principal.kind === 'token' || principal.kind === 'local' || maySee(principal, null);
  return principal.kind === 'key' && (principal.key.id === keyId || principal.keys('own').includes(keyId));
}

function actorOf(principal: Principal | typeof SYSTEM): JsonObject {
  switch (principal.kind) {
    case 'key':
      return { kind: 'key', id: principal.key.id };
    case 'paired':
      return { kind: 'paired', id: principal.session };
    default:
      return { kind: principal.kind, id: null };
  }
}
