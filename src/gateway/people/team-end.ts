import { AbpError } from '../../contract/errors.ts';
import type { Key } from '../../store/keys.ts';
import type { TeamDeletion } from '../api/people.ts';
import type { Principal } from '../auth/principal.ts';
import type { KeptBudget } from '../budgets/budget-book.ts';
import type { Gateway } from '../gateway.ts';
import { liveKeys } from './keys-of-people.ts';
import type { Team } from './people.ts';

const MOST_NAMED = 10;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).join(', ');
  return names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
}

/**
 * Refuses to delete a team while its limits or budgets hold keys: these would go on unheld. Tells the deleter how to say what becomes of
 * them.
 */
function stillHolds({ id: team, keys, users, budgets }: Held): AbpError {
  const sentences = [`The team ${team} cannot be deleted yet.`];
  if (keys.length > 0) {
    const names = listed(keys.map(({ id, name }) => `${id} (${name})`));
    sentences.push(
      `It has live keys, which its limits would hold no longer: ${names}. Say what becomes of them: keys=revoke (--revoke-keys) or keys=keep (--keep-keys); or give them to another team first.`,
    );
  }
  if (users.length > 0) {
    sentences.push(
      `Its limits hold users with live keys, who would be held by them no longer: ${listed(users)}. Take the limits away first (--unlimited), or keep the keys without them: keys=keep (--keep-keys).`,
    );
  }
  if (budgets.length > 0) {
    const names = listed(budgets.map(({ budget, createdAt }) => `${budget.id}${createdAt === null ? ' (of the configuration)' : ''}`));
    sentences.push(`It has budgets, which would hold its users no longer: ${names}. Delete them first.`);
  }
  sentences.push('Or delete the team with force=true (--force): its keys are revoked, and its budgets deleted.');
  return new AbpError('conflict', sentences.join(' '), {
    team,
    keys: keys.map(({ id }) => id),
    users: [...users],
    budgets: budgets.map(({ budget }) => budget.id),
  });
}

/** What a team holds, and nobody has said what becomes of it. */
interface Held {
  readonly id: string;
  readonly keys: readonly Key[];
  readonly users: readonly string[];
  readonly budgets: readonly KeptBudget[];
}

/** Users of a team with limits who have live keys of their own: these stay, and would have no limits of the team. */
async function heldUsers(gateway: Gateway, { limits, members }: Team): Promise<readonly string[]> {
  if (Object.keys(limits).length === 0) return [];
  const live = await Promise.all(members.map(async (user) => (await liveKeys(gateway, gateway.people.keysOf('user', user))).length > 0));
  return members.filter((_user, at) => live[at]);
}

/** Deletes a team with what its deleter gives up; each key and budget that goes is an entry of the audit log. */
export async function endTeam(gateway: Gateway, principal: Principal, team: string, query: TeamDeletion): Promise<void> {
  const { people, budgets, keys, audit } = gateway;
  // A key or a budget may have been given to it on another node a moment ago.
  await people.read();
  await budgets.read();
  const ended = people.team(team);
  const { id } = ended;
  const given = people.givenTo(id);
  const live = await liveKeys(gateway, given);
  const held = budgets.on('team', id);
  const become = query.keys ?? (query.force ? 'revoke' : undefined);
  const undecided = become === undefined ? live : [];
  const unspoken = query.force ? [] : held;
  const users = query.force || become === 'keep' ? [] : await heldUsers(gateway, ended);
  if (undecided.length + unspoken.length + users.length > 0) throw stillHolds({ id, keys: undecided, users, budgets: unspoken });
  const revoked = become === 'revoke' ? live.map((key) => key.id) : [];
  // Budgets of the configuration stay there; without the team they hold nobody.
  const deleted = held.filter(({ createdAt }) => createdAt !== null).map(({ budget }) => budget.id);
  const acts = [
    ...revoked.map((target) => ({ action: 'key.revoke', target, details: { team: id } }) as const),
    ...deleted.map((target) => ({ action: 'budget.delete', target, details: { team: id } }) as const),
  ];
  const work = async (): Promise<void> => await people.deleteTeam(id, { keys: given, revoked, budgets: deleted });
  await acts.reduceRight<() => Promise<void>>((inner, act) => async () => await audit.around(principal, act, inner), work)();
  keys.forget();
  if (deleted.length > 0) await budgets.read();
}
