/** Three figures: `999`, `18.2k`, `254M`. */
export function compact(value: number): string {
  const [unit, size] = value >= 1e9 ? ['G', 1e9] : value >= 1e6 ? ['M', 1e6] : value >= 1000 ? ['k', 1000] : ['', 1];
  const scaled = value / size;
  return `${unit === '' ? value : scaled.toFixed(scaled < 100 ? 1 : 0)}${unit}`;
}

/** `1 call`, `1,011 receipts`: exact, because who reads how many were checked or cost nothing compares that with another number. */
export function counted(many: number, one: string, several = `${one}s`): string {
  return `${many.toLocaleString('en')} ${many === 1 ? one : several}`;
}
