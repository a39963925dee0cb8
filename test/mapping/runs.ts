/** `npm run fuzz` tries a law with all of its conversations, `npm test` with a third of them. */
export function runs(all: number): number {
  return process.env.ABP_FUZZ === 'all' ? all : Math.ceil(all / 3);
}
