import type { Tool } from '../../tools/tool.ts';
import { editFile } from './edit-file.ts';
import { glob, grep } from './find-tools.ts';
import { list } from './list.ts';
import { readFile } from './read-file.ts';
import { writeFile } from './write-file.ts';

export const tools: readonly Tool[] = [readFile, writeFile, editFile, grep, glob, list];
