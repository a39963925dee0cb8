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
