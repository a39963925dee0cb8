/** Address of a sibling module for `new Worker` and `import()`: the source ends in .ts, the build in .js. */
export function siblingModule(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl);
}
