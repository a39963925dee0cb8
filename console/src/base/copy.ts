import { tellDone, tellFailure } from './told.ts';

/**
 * Copies a text; whether it could. A browser has a clipboard only for pages of this machine or over https, and may say no: then the text
 * is shown, to be taken by hand.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Absent on a page that came over plain http from another machine, whatever the types say.
    const clipboard: unknown = navigator.clipboard;
    if (clipboard === undefined) throw new Error('There is no clipboard here.');
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    tellFailure(`This browser does not let the page copy. What was to be copied: ${text}`);
    return false;
  }
}

/** Copies by a key or a command, which leaves no sign where it was given: so it is said. */
export async function copyAloud(text: string | undefined): Promise<void> {
  if (text !== undefined && (await copyText(text))) tellDone(`Copied ${text}`);
}
