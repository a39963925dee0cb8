import { useEffect, useState } from 'react';

/** A value that follows another once that has not changed for so long: nothing is asked while somebody types or walks through a list. */
export function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(value), ms);
    return () => window.clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
