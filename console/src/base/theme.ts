const KEY = 'abp.theme';

/** Turns light into dark and back, and remembers it in this browser. */
export function toggleTheme(): void {
  const dark = document.documentElement.dataset.theme !== 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  localStorage.setItem(KEY, dark ? 'dark' : 'light');
  window.dispatchEvent(new Event('abp:theme'));
}

/** The value of a token, as charts need it. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
