import { expect, it } from 'vitest';
import { blank, lineOf } from './blanking.ts';

it('blanks comments in both forms and keeps the strings', () => {
  expect(blank("a; // it's\nb /* x */ 'c // d'").withoutComments).toBe("a;        \nb         'c // d'");
  expect(blank("a; // it's\nb /* x */ 'c // d'").codeOnly).toBe("a;        \nb         '      '");
});

it('blanks template text and keeps the code in its holes', () => {
  const text = ['x(`a ', '$', '{f({ b: `c` })} d`, e)'].join('');
  expect(blank(text).codeOnly).toBe(['x(`  ', '$', '{f({ b: ` ` })}  `, e)'].join(''));
});

it('tells a regular expression from a division', () => {
  expect(blank("const a = /['\"/]/; b('c')").codeOnly).toBe("const a = /     /; b(' ')");
  expect(blank("a / b; 'c'; d / e").codeOnly).toBe("a / b; ' '; d / e");
});

it('keeps every offset and every line', () => {
  const text = "/* one\ntwo */ import a from 'b';\n";
  expect(blank(text).codeOnly).toHaveLength(text.length);
  expect(lineOf(text, text.indexOf('import'))).toBe(2);
});
