import { AbpError } from '../../contract/errors.ts';

/**
 * Ids with everything they depend on: what is depended on comes first, and nothing else changes the order that was given. A circle is
 * refused by its path.
 */
export function dependencyOrder(ids: readonly string[], dependenciesOf: (id: string) => readonly string[]): string[] {
  const order: string[] = [];
  const placed = new Set<string>();
  const visit = (id: string, path: readonly string[]): void => {
    if (placed.has(id)) return;
    const start = path.indexOf(id);
    if (start !== -1) {
      const circle = [...path.slice(start), id];
      throw new AbpError('unprocessable', `Capabilities depend on each other in a circle: ${circle.join(' → ')}.`, { circle });
    }
    for (const dependency of dependenciesOf(id)) visit(dependency, [...path, id]);
    placed.add(id);
    order.push(id);
  };
  for (const id of ids) visit(id, []);
  return order;
}
