/** People on whose behalf keys are used. */
export interface PeopleTables {
  readonly users: UsersTable;
  readonly teams: TeamsTable;
  readonly team_members: TeamMembersTable;
  readonly key_holders: KeyHoldersTable;
  readonly key_secrets: KeySecretsTable;
}

/** Secrets that open a key besides its own: one that was replaced, or a sign-in. */
export interface KeySecretsTable {
  readonly id: string;
  readonly hash: string;
  readonly key_id: string;
  /** `retired`, `browser` or `command`. */
  readonly kind: string;
  /** The browser or machine, as it names itself. */
  readonly label: string;
  readonly created_at: number;
  readonly expires_at: number;
  /** Made of the rest with the secret of the home; without the right one the row opens nothing. */
  readonly mac: string;
}

export interface UsersTable {
  /** Chosen by the administrator, such as a short name or an address. */
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** Bounds every key of the user; null: each key may do what its own scopes say. */
  readonly role: string | null;
  /** Who signs in as this user, in the words of the issuer; null: nobody. */
  readonly subject: string | null;
  /** The key that the user has when signed in. */
  readonly key_id: string | null;
  /** Made of id, role, subject and key with the secret of the home; without the right one all of them are null. */
  readonly mac: string | null;
}

export interface TeamsTable {
  readonly id: string;
  readonly name: string;
  /** Limits as JSON. */
  readonly limits: string;
  readonly created_at: number;
  /** 1: its members see each other's runs. */
  readonly shows_runs: number;
}

interface TeamMembersTable {
  readonly team_id: string;
  readonly user_id: string;
}

/** Whose key it is; rows stay when the key is revoked, so that what was spent with it stays known. */
export interface KeyHoldersTable {
  readonly key_id: string;
  readonly user_id: string | null;
  readonly team_id: string | null;
  /** The name of a program that uses it, where it is no person's. */
  readonly service: string | null;
}
