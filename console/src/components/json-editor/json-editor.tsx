import { type JSX, useEffect, useRef } from 'react';
import type { LineFate } from './lines.ts';
import './json-editor.css';

interface EditorProps {
  readonly label: string;
  readonly value: string;
  readonly fates?: readonly LineFate[];
  /** Without it the text is shown and cannot be changed. */
  onChange?(text: string): void;
  onSend?(): void;
}

type Mounted = Awaited<ReturnType<typeof mount>>;

async function mount(host: HTMLElement, props: EditorProps) {
  const { mountEditor } = await import('./code-mirror.ts');
  return mountEditor(host, props);
}

const NO_FATES: readonly LineFate[] = [];

/** JSON with the fates of fields in its gutter, to write or only to read. The editor is loaded when it is first needed. */
export function JsonEditor(props: EditorProps): JSX.Element {
  const { value, fates = NO_FATES } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Mounted | undefined>(undefined);
  const current = useRef(props);
  current.current = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    let gone = false;
    const { onChange, onSend } = current.current;
    const relay: EditorProps = {
      ...current.current,
      ...(onChange === undefined ? {} : { onChange: (text) => current.current.onChange?.(text) }),
      ...(onSend === undefined ? {} : { onSend: () => current.current.onSend?.() }),
    };
    void mount(element, relay).then((mounted) => {
      if (gone) {
        mounted.destroy();
        return;
      }
      editor.current = mounted;
      mounted.setValue(current.current.value);
      mounted.setFates(current.current.fates ?? NO_FATES);
    });
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => editor.current?.setValue(value), [value]);
  useEffect(() => editor.current?.setFates(fates), [fates]);
  return <div ref={host} className="json-editor" data-typing="true" />;
}
