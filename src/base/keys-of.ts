/** The keys of a table. Its type is all that it has: tables are constants of ours, not values that somebody has added members to. */
export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
