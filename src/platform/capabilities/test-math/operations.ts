import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';

const Parameters = z.strictObject({ a: z.number().describe('First number.'), b: z.number().describe('Second number.') });

const OPERATIONS: readonly (readonly [name: string, description: string, (a: number, b: number) => number])[] = [
  ['add', 'Add two numbers', (a, b) => a + b],
  ['subtract', 'Subtract second number from first', (a, b) => a - b],
  ['multiply', 'Multiply two numbers', (a, b) => a * b],
  ['divide', 'Divide first number by second', (a, b) => a / b],
];

export const operations: readonly Tool[] = OPERATIONS.map(([name, description, calculate]) =>
  defineTool({
    name,
    description,
    parameters: Parameters,
    run: ({ a, b }) => {
      if (name === 'divide' && b === 0) throw new ToolFailure('Division by zero');
      const result = calculate(a, b);
      // JSON has no number beyond the largest double.
      if (!Number.isFinite(result)) throw new ToolFailure('The result is too large');
      return { result, operation: name, a, b };
    },
  }),
);
