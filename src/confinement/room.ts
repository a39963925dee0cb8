import type { ControlGroup } from './control-groups.ts';

/** A file or folder of this machine, and what a confined program calls it. */
export interface Shown {
  readonly source: string;
  readonly at: string;
  readonly writable: boolean;
}

/** Hard limits of every confined process; `processes` counts all of them together. */
export interface RoomLimits {
  readonly processes: number;
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly openFiles: number;
}

export const ROOM_LIMITS: RoomLimits = {
  processes: 4096,
  memoryBytes: 4 * 1024 ** 3,
  fileBytes: 8 * 1024 ** 3,
  openFiles: 4096,
};

/** Everything a confined program can see. What is not named here does not exist for it. */
export interface Room {
  /** Where it begins to work. */
  readonly workspace: Shown;
  /** A folder of this machine that is its home; without one it has none that outlives it. */
  readonly home?: string;
  /** Places that it sees beside the system's own programs. */
  readonly places: readonly Shown[];
  /** Files of the system that it usually sees and shall not. */
  readonly hidden?: readonly string[];
  /** Folders that stay outside: one that lies below a folder of the system that is shown is empty inside. */
  readonly outside?: readonly string[];
  /** Ports of its own loopback on which this process answers; without any it has no network at all. */
  readonly ports: readonly number[];
  /** It keeps the terminal of its caller. */
  readonly terminal?: boolean;
  readonly limits?: Partial<RoomLimits>;
  /** The group that all its processes enter, where they are limited together. */
  readonly group?: ControlGroup;
}

/** Not below a temporary folder: some agents refuse to keep programs there. */
export const HOME_INSIDE = '/home/agent';
/** Ports inside a room, the same in each: its loopback is its own. */
export const GATEWAY_PORT = 8088;
export const EGRESS_PORT = 3128;

/** A file or folder that is shown as it is called outside. */
export const shownAsIs = (path: string, writable = false): Shown => ({ source: path, at: path, writable });

/** Whether a path is a folder or lies in it. */
export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
