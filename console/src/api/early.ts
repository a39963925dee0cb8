/** What `early.ts` asked for before the application was there; each answer is taken once. */
export function takeEarly(path: string): Promise<Response> | undefined {
  const asked: unknown = Reflect.get(window, 'abpEarly');
  if (typeof asked !== 'object' || asked === null) return undefined;
  const found: unknown = Reflect.get(asked, path);
  Reflect.deleteProperty(asked, path);
  return found instanceof Promise ? (found as Promise<Response>) : undefined; // early.ts puts nothing else there
}
