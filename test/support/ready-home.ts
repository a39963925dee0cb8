import { copyFileSync } from 'node:fs';
import { type Home, openHome } from '../../src/home/home.ts';

/**
 * A new home whose database has the tables of this version already. A suite starts hundreds of servers, and the steps that make the tables
 * take a fifth of each start; suites of those steps and of a first start open a home of their own.
 */
export function readyHome(path: string): Home {
  const home = openHome({ path });
  const build = process.env.ABP_TEST_BUILD;
  if (build !== undefined) copyFileSync(`${build}/ready.db`, home.databaseFile);
  return home;
}
