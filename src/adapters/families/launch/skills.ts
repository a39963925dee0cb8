import type { RunOptions } from '../../../contract/runs/run-options.ts';

/** Skills that are given by their folder. */
export function skillPaths({ skills = [] }: RunOptions): readonly string[] {
  return skills.filter(isPath);
}

/** Skills that are given by name: the agent has them installed, and is told to use them. */
export function namedSkills({ skills = [] }: RunOptions): readonly string[] {
  return skills.filter((skill) => !isPath(skill));
}

function isPath(skill: string): boolean {
  return skill.startsWith('.') || skill.startsWith('~') || skill.includes('/') || skill.includes('\\');
}
