import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter, keymap, lineNumbers, WidgetType } from '@codemirror/view';
import { FATES } from '../../components/fate/fate.tsx';
import type { LineFate } from './json-editor.tsx';

const GLYPHS = { exact: '=', renamed: '→', emulated: '≈', dropped: '∅', refused: '×' } as const;

const setFates = StateEffect.define<readonly LineFate[]>();

const fatesField = StateField.define<readonly LineFate[]>({
  create: () => [],
  update: (value, transaction) => transaction.effects.findLast((effect) => effect.is(setFates))?.value ?? value,
});

class FateMarker extends GutterMarker {
  readonly fate: LineFate;

  constructor(fate: LineFate) {
    super();
    this.fate = fate;
  }

  override toDOM(): Node {
    const element = document.createElement('span');
    element.className = `f-${this.fate.fate}`;
    element.textContent = GLYPHS[this.fate.fate];
    element.title = `${this.fate.fate}${this.fate.note === '' ? '' : `: ${this.fate.note}`}`;
    return element;
  }
}

class NoteWidget extends WidgetType {
  readonly fate: LineFate;

  constructor(fate: LineFate) {
    super();
    this.fate = fate;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = `an f-${this.fate.fate}`;
    element.textContent = this.fate.note || this.fate.fate;
    return element;
  }
}

const isLoss = ({ fate }: LineFate): boolean => FATES.indexOf(fate) >= 2;

function decorations(state: EditorState): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const fate of state.field(fatesField)) {
    if (!isLoss(fate) || fate.line > state.doc.lines) continue;
    const line = state.doc.line(fate.line);
    builder.add(line.from, line.from, Decoration.line({ class: `g-${fate.fate}` }));
    builder.add(line.to, line.to, Decoration.widget({ widget: new NoteWidget(fate), side: 1 }));
  }
  return builder.finish();
}

/** In a shadow root the style sheets of the editor are constructed ones, which the policy of the page allows. */
const SHEET = `
:host{display:block;height:100%}
.cm-editor{height:100%;font-size:12px;background:var(--panel);color:var(--ink)}
.cm-editor.cm-focused{outline:2px solid var(--focus);outline-offset:-2px}
.cm-editor .cm-scroller{font-family:"IBM Plex Mono",ui-monospace,monospace;line-height:19px}
.cm-editor .cm-gutters{background:var(--panel);color:var(--mute);border:0}
.cm-fates{width:22px;text-align:center}
.cm-content{caret-color:var(--ink)}
.cm-cursor{border-left-color:var(--ink)}
.cm-selectionBackground,.cm-content ::selection{background:var(--sel)!important}
.f-exact{color:var(--exact)}.f-renamed{color:var(--renamed)}.f-emulated{color:var(--emulated)}.f-dropped{color:var(--dropped)}.f-refused{color:var(--refused)}
.g-emulated{background:var(--bemulated)}.g-dropped{background:var(--bdropped)}.g-refused{background:var(--brefused)}
.an{font:11px "IBM Plex Sans",system-ui,sans-serif;padding-left:16px;opacity:.95}
`;

export interface MountedEditor {
  setValue(text: string): void;
  setFates(fates: readonly LineFate[]): void;
  destroy(): void;
}

export function mountEditor(
  host: HTMLElement,
  on: { readonly value: string; onChange(text: string): void; onSend(): void },
): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  root.adoptedStyleSheets = [sheet];
  const send = (): boolean => {
    on.onSend();
    return true;
  };
  const extensions = [
    fatesField,
    gutter({ class: 'cm-fates', lineMarker: (view, line) => markerAt(view, line.from), lineMarkerChange: () => true }),
    lineNumbers(),
    history(),
    json(),
    EditorView.lineWrapping,
    EditorView.decorations.compute([fatesField, 'doc'], decorations),
    EditorView.contentAttributes.of({ 'aria-label': 'The request you send, as JSON' }),
    keymap.of([{ key: 'Mod-Enter', run: send }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) on.onChange(update.state.doc.toString());
    }),
  ];
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: on.value, extensions }) });
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
