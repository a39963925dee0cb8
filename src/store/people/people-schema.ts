/** People on whose behalf keys are used. */
export interface PeopleTables {
  readonly users: UsersTable;
  readonly teams: TeamsTable;
  readonly team_members: TeamMembersTable;
  readonly key_holders: KeyHoldersTable;
}

export interface UsersTable {
  /** Chosen by the administrator, such as a short name or an address. */
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
}

export interface TeamsTable {
  readonly id: string;
  readonly name: string;
  /** Limits as JSON. */
  readonly limits: string;
  readonly created_at: number;
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
}
