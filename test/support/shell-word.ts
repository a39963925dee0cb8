/** A text as one word of a POSIX shell, whatever letters it has: folders of clones have spaces, quotes and dollar signs. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
