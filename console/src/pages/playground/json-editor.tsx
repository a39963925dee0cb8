import { type JSX, useEffect, useRef } from 'react';
import type { FateName } from '../../components/fate/fate.tsx';

export interface LineFate {
  readonly line: number;
  readonly fate: FateName;
  readonly note: string;
}

interface EditorProps {
  readonly value: string;
  readonly fates: readonly LineFate[];
  onChange(text: string): void;
  onSend(): void;
}

type Mounted = Awaited<ReturnType<typeof mount>>;

async function mount(host: HTMLElement, props: EditorProps) {
  const { mountEditor } = await import('./code-mirror.ts');
  return mountEditor(host, props);
}

/** An editor for JSON with the fates of fields in its gutter. It is loaded when it is first needed. */
export function JsonEditor(props: EditorProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Mounted | undefined>(undefined);
  const current = useRef(props);
  current.current = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    let gone = false;
    const relay: EditorProps = {
      ...current.current,
      onChange: (text) => current.current.onChange(text),
      onSend: () => current.current.onSend(),
    };
    void mount(element, relay).then((mounted) => {
      if (gone) mounted.destroy();
      else editor.current = mounted;
      mounted.setValue(current.current.value);
      mounted.setFates(current.current.fates);
    });
    return () => {
      gone = true;
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => editor.current?.setValue(props.value), [props.value]);
  useEffect(() => editor.current?.setFates(props.fates), [props.fates]);
  return <div ref={host} className="editor" data-typing="true" />;
}
