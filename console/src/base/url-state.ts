import { useNavigate, useSearch } from '@tanstack/react-router';

export type UrlState = Readonly<Record<string, string | undefined>>;

/** The state of a page, which is what stands in its address: a link shows a colleague the same thing. */
export function useUrlState(): readonly [UrlState, (change: UrlState, options?: { readonly replace?: boolean }) => void] {
  const search: UrlState = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (next: UrlState, { replace = false } = {}): void => {
    void navigate({ to: '.', search: { ...search, ...next }, replace });
  };
  return [search, change];
}

/** One of a few parts of a page, told by its address; the first stands for an address that names none. */
export function useUrlChoice<T extends string>(name: string, choices: readonly [T, ...T[]]): readonly [T, (next: T) => void] {
  const [state, change] = useUrlState();
  const chosen = choices.find((choice) => choice === state[name]) ?? choices[0];
  const choose = (next: T): void => {
    if (next !== chosen) change({ [name]: next === choices[0] ? undefined : next }, { replace: true });
  };
  return [chosen, choose];
}
