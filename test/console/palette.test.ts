import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

type Rgb = readonly [number, number, number];

const css = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'src', 'base', 'tokens.css'), 'utf8');

/** The colours of a theme by their names. */
function tokensOf(selector: string): ReadonlyMap<string, Rgb> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf('}', start));
  return new Map(
    [...block.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [
      name,
      [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb, // three of them
    ]),
  );
}

const linear = (channel: number): number => {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

const luminance = ([red, green, blue]: Rgb): number => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

/** WCAG 2.2: from 1 (the same) to 21 (black on white). */
function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['paper', 'panel', 'sunk', 'hover', 'sel'];
const TEXTS = ['ink', 'ink2', 'mute', 'ok', 'warn', 'bad', 'live', 'exact', 'renamed', 'emulated', 'dropped', 'refused'];
const FATES = ['exact', 'renamed', 'emulated', 'dropped', 'refused'];
const SERIES = ['c1', 'c2', 'c3', 'c4', 'c5'];

describe.each([
  ['light', ':root'],
  ['dark', ':root[data-theme="dark"]'],
])('the palette in %s', (_, selector) => {
  const tokens = tokensOf(selector);
  const colour = (name: string): Rgb => tokens.get(name) ?? expect.fail(`there is no colour ${name}`);

  it('has text of at least 4.9 to 1 on every ground', () => {
    const weak = TEXTS.flatMap((text) =>
      GROUNDS.map((ground) => [`${text} on ${ground}`, contrast(colour(text), colour(ground))] as const),
    );
    expect(weak.filter(([, ratio]) => ratio < 4.9)).toEqual([]);
  });

  it('has fates of at least 5 to 1 on their own tint, and lines of diffs likewise', () => {
    const pairs = [...FATES.map((fate) => [fate, `b${fate}`] as const), ['addink', 'add'] as const, ['delink', 'del'] as const];
    const weak = pairs.map(([text, tint]) => [`${text} on ${tint}`, contrast(colour(text), colour(tint))] as const);
    expect(weak.filter(([, ratio]) => ratio < 5)).toEqual([]);
  });

  it('has strips, marks of charts and the focus of at least 3 to 1 on panels', () => {
    const marks = [...FATES.map((fate) => `t${fate}`), ...SERIES, 'bar', 'focus', 'selline'];
    const weak = marks.map((name) => [name, contrast(colour(name), colour('panel'))] as const);
    expect(weak.filter(([, ratio]) => ratio < 3)).toEqual([]);
  });

  it('has a primary button whose words can be read', () => {
    expect(contrast(colour('onprimary'), colour('primary'))).toBeGreaterThan(4.9);
  });
});

/** How people see who lack one kind of cone (Viénot, Brettel and Mollon, 1999, and Brettel 1997 for blue), on linear light. */
const SIMULATIONS: Readonly<Record<string, readonly (readonly [number, number, number])[]>> = {
  protanopia: [
    [0.11238, 0.88762, 0],
    [0.11238, 0.88762, 0],
    [0.00401, -0.00401, 1],
  ],
  deuteranopia: [
    [0.29275, 0.70725, 0],
    [0.29275, 0.70725, 0],
    [-0.02234, 0.02234, 1],
  ],
  tritanopia: [
    [1, 0.1446, -0.1446],
    [0, 0.8589, 0.1411],
    [0, 0.8589, 0.1411],
  ],
};

describe('for people who see colours otherwise', () => {
  const strip = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'src', 'base', 'bits.css'), 'utf8');

  it.each(Object.keys(SIMULATIONS))(
    'a loss differs under %s from what stands beside it in a strip, by its colour or by a texture',
    (kind) => {
      const matrix = SIMULATIONS[kind] ?? [];
      for (const selector of [':root', ':root[data-theme="dark"]']) {
        const tokens = tokensOf(selector);
        const seen = (name: string): number[] => {
          const light = (tokens.get(name) ?? expect.fail(name)).map(linear) as unknown as Rgb;
          return matrix.map((row) => row.reduce((sum, factor, at) => sum + factor * (light[at] ?? 0), 0));
        };
        // What is exact and what is renamed has arrived; between them nothing is lost, and under tritanopia they come near each other.
        for (const [index, fate] of FATES.slice(1, -1).entries()) {
          const next = FATES[index + 2] ?? '';
          const distance = Math.hypot(...seen(`t${fate}`).map((value, at) => value - (seen(`t${next}`)[at] ?? 0)));
          const textured = [fate, next].some((name) => strip.includes(`.b-${name} {\n  background-image`));
          expect(distance > 0.12 || textured, `${selector} ${fate} beside ${next}: ${distance}`).toBe(true);
        }
      }
    },
  );

  it('the textures of emulated and dropped are there in both themes, and each fate has a sign of its own', () => {
    for (const theme of ['', ':root[data-theme="dark"] '])
      for (const fate of ['emulated', 'dropped']) expect(strip).toContain(`${theme}.b-${fate} {\n  background-image`);
    const sprite = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'src', 'components', 'icon', 'sprite.svg'), 'utf8');
    const shapes = FATES.map((fate) => new RegExp(`<symbol[^>]*id="${fate}"[^>]*>(.*?)</symbol>`, 's').exec(sprite)?.[1]);
    expect(new Set(shapes).size).toBe(FATES.length);
    expect(shapes).not.toContain(undefined);
  });
});
