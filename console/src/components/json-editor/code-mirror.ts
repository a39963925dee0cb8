import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { EditorState, type Extension, RangeSet, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutter,
  gutterLineClass,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';
import { FATES } from '../../base/fates.ts';
import { iconAddress } from '../icon/icon.tsx';
import type { LineFate } from './lines.ts';

const SVG = 'http://www.w3.org/2000/svg';

const setFates = StateEffect.define<readonly LineFate[]>();

const fatesField = StateField.define<readonly LineFate[]>({
  create: () => [],
  update: (value, transaction) => transaction.effects.findLast((effect) => effect.is(setFates))?.value ?? value,
});

/** The sign of a fate in the gutter, with its word. */
class FateMarker extends GutterMarker {
  readonly fate: LineFate;

  constructor(fate: LineFate) {
    super();
    this.fate = fate;
  }

  override eq(other: FateMarker): boolean {
    return this.fate.fate === other.fate.fate && this.fate.note === other.fate.note;
  }

  override toDOM(): Node {
    const element = document.createElement('span');
    element.className = `f-${this.fate.fate}`;
    element.title = `${this.fate.fate}${this.fate.note === '' ? '' : `: ${this.fate.note}`}`;
    const picture = document.createElementNS(SVG, 'svg');
    picture.setAttribute('width', '13');
    picture.setAttribute('height', '13');
    picture.setAttribute('aria-hidden', 'true');
    const use = document.createElementNS(SVG, 'use');
    use.setAttribute('href', iconAddress(this.fate.fate));
    picture.append(use);
    const word = document.createElement('span');
    word.className = 'sr';
    word.textContent = this.fate.fate;
    element.append(picture, word);
    return element;
  }
}

/** Gives a line's part of the gutter the ground of its loss. */
class LossMarker extends GutterMarker {
  override readonly elementClass: string;

  constructor({ fate }: LineFate) {
    super();
    this.elementClass = `g-${fate}`;
  }
}

class NoteWidget extends WidgetType {
  readonly fate: LineFate;

  constructor(fate: LineFate) {
    super();
    this.fate = fate;
  }

  override eq(other: NoteWidget): boolean {
    return this.fate.fate === other.fate.fate && this.fate.note === other.fate.note;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = `an f-${this.fate.fate}`;
    element.textContent = this.fate.note || this.fate.fate;
    element.title = this.fate.note || this.fate.fate;
    return element;
  }
}

const isLoss = ({ fate }: LineFate): boolean => FATES.indexOf(fate) >= 2;

function lossesIn(state: EditorState): readonly LineFate[] {
  return state.field(fatesField).filter((fate) => isLoss(fate) && fate.line <= state.doc.lines);
}

function decorations(state: EditorState): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const fate of lossesIn(state)) {
    const line = state.doc.line(fate.line);
    builder.add(line.from, line.from, Decoration.line({ class: `g-${fate.fate}` }));
    builder.add(line.to, line.to, Decoration.widget({ widget: new NoteWidget(fate), side: 1 }));
  }
  return builder.finish();
}

function gutterGrounds(state: EditorState): RangeSet<GutterMarker> {
  return RangeSet.of(lossesIn(state).map((fate) => new LossMarker(fate).range(state.doc.line(fate.line).from)));
}

/** Keys are quieter than values; that is all the colour JSON has. */
const keyMatcher = new MatchDecorator({ regexp: /"(?:[^"\\]|\\.)*"(?=\s*:)/g, decoration: Decoration.mark({ class: 'k' }) });
const quietKeys = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = keyMatcher.createDeco(view);
    }

    update(update: ViewUpdate): void {
      this.decorations = keyMatcher.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** In a shadow root the style sheets of the editor are constructed ones, which the policy of the page allows. */
const SHEET = `
:host{display:block;height:100%}
.cm-editor{height:100%;font-size:12px;background:var(--panel);color:var(--ink)}
.cm-editor.cm-focused{outline:2px solid var(--focus);outline-offset:-2px}
.cm-editor .cm-scroller{font-family:var(--mono);line-height:19px}
.cm-editor .cm-gutters{background:var(--panel);color:var(--mute);border:0}
.cm-editor .cm-lineNumbers .cm-gutterElement{padding:0 9px 0 0;min-width:26px;font-size:11px}
.cm-fates{width:24px;text-align:center}
.cm-fates svg{vertical-align:-2px}
.cm-content{caret-color:var(--ink);font-weight:500}
.cm-editor .cm-content .cm-line{display:flow-root}
.cm-line .k{color:var(--ink2);font-weight:400}
.cm-cursor{border-left-color:var(--ink)}
.cm-selectionBackground,.cm-content ::selection{background:var(--sel)!important}
.f-exact{color:var(--exact)}.f-renamed{color:var(--renamed)}.f-emulated{color:var(--emulated)}.f-dropped{color:var(--dropped)}.f-refused{color:var(--refused)}
.g-emulated{background:var(--bemulated)}.g-dropped{background:var(--bdropped)}.g-refused{background:var(--brefused)}
.an{float:right;font:400 11px/19px var(--sans);padding:0 8px 0 12px;max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
`;

export interface MountedEditor {
  setValue(text: string): void;
  setFates(fates: readonly LineFate[]): void;
  destroy(): void;
}

interface Wishes {
  readonly label: string;
  readonly value: string;
  onChange?(text: string): void;
  onSend?(): void;
}

function writing({ onChange, onSend }: Wishes): Extension[] {
  if (onChange === undefined) return [EditorState.readOnly.of(true), EditorView.editable.of(false)];
  const send = (): boolean => {
    onSend?.();
    return true;
  };
  return [
    history(),
    keymap.of([{ key: 'Mod-Enter', run: send }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

export function mountEditor(host: HTMLElement, wishes: Wishes): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  root.adoptedStyleSheets = [sheet];
  const extensions = [
    fatesField,
    gutter({ class: 'cm-fates', lineMarker: (view, line) => markerAt(view, line.from), lineMarkerChange: () => true }),
    lineNumbers(),
    gutterLineClass.compute([fatesField, 'doc'], gutterGrounds),
    json(),
    quietKeys,
    EditorView.lineWrapping,
    EditorView.decorations.compute([fatesField, 'doc'], decorations),
    EditorView.contentAttributes.of({ 'aria-label': wishes.label }),
    ...writing(wishes),
  ];
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: wishes.value, extensions }) });
  // What scrolls can be scrolled by keys.
  view.scrollDOM.tabIndex = 0;
  return {
    setValue: (text) => {
      if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setFates: (fates) => view.dispatch({ effects: setFates.of(fates) }),
    destroy: () => view.destroy(),
  };
}

function markerAt(view: EditorView, from: number): GutterMarker | null {
  const number = view.state.doc.lineAt(from).number;
  const fate = view.state.field(fatesField).find(({ line }) => line === number);
  return fate === undefined ? null : new FateMarker(fate);
}
