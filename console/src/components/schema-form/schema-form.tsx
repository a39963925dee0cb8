import { type JSX, useId, useState } from 'react';
import { Select } from '../bits/bits.tsx';
import './schema-form.css';

type Loose = Readonly<Record<string, unknown>>;

const object = (value: unknown): Loose => (typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

interface FormProps {
  /** A JSON Schema of an object. */
  readonly schema: Loose;
  readonly value: Loose;
  change(value: Loose): void;
}

/** A form that a JSON Schema describes. What is left empty is left out, so that the server's defaults hold. */
export function SchemaForm({ schema, value, change }: FormProps): JSX.Element {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const set = (name: string, next: unknown): void => {
    const { [name]: _before, ...rest } = value;
    change(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <div className="schema-form">
      {Object.entries(object(schema.properties)).map(([name, member]) => (
        <Field
          key={name}
          name={name}
          schema={object(member)}
          required={required.includes(name)}
          value={value[name]}
          change={(next) => set(name, next)}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: Loose;
  readonly required: boolean;
  readonly value: unknown;
  change(value: unknown): void;
}

function Field(props: FieldProps): JSX.Element {
  const { name, schema, value, change } = props;
  const id = useId();
  const kind = Array.isArray(schema.enum) ? 'enum' : text(schema.type);
  if (kind === 'object' && schema.properties !== undefined) {
    return (
      <fieldset>
        <legend>{titleOf(name, schema)}</legend>
        <SchemaForm schema={schema} value={object(value)} change={change} />
      </fieldset>
    );
  }
  return (
    <div className="sf-field">
      <label htmlFor={id}>
        {titleOf(name, schema)}
        {props.required ? <span className="mute"> needed</span> : null}
      </label>
      <Input {...props} kind={kind} id={id} />
      <span className="mute xs">{[text(schema.description), rangeOf(schema)].filter(Boolean).join(' ')}</span>
    </div>
  );
}

function titleOf(name: string, schema: Loose): string {
  return text(schema.title) || name;
}

/** The bounds of a number in words. */
function rangeOf({ minimum, maximum }: Loose): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return `${minimum} to ${maximum}.`;
  if (typeof minimum === 'number') return `At least ${minimum}.`;
  return typeof maximum === 'number' ? `At most ${maximum}.` : '';
}

function Input({
  kind,
  id,
  name,
  schema,
  required,
  value,
  change,
}: FieldProps & { readonly kind: string; readonly id: string }): JSX.Element {
  const otherwise =
    schema.default === undefined ? '' : typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default);
  if (kind === 'enum') {
    const options = (Array.isArray(schema.enum) ? schema.enum : []).map(String);
    return (
      <Select
        label={name}
        value={value === undefined ? '' : String(value)}
        options={[['', otherwise === '' ? 'not set' : `${otherwise}, by default`], ...options.map((one) => [one, one] as const)]}
        onChange={(next) => change(next === '' ? undefined : next)}
      />
    );
  }
  if (kind === 'boolean') {
    return (
      <input
        id={id}
        type="checkbox"
        checked={typeof value === 'boolean' ? value : schema.default === true}
        onChange={(event) => change(event.target.checked)}
      />
    );
  }
  if (kind === 'integer' || kind === 'number') {
    return (
      <input
        id={id}
        className="m"
        type="number"
        step={kind === 'integer' ? 1 : 'any'}
        min={typeof schema.minimum === 'number' ? schema.minimum : undefined}
        max={typeof schema.maximum === 'number' ? schema.maximum : undefined}
        placeholder={otherwise}
        required={required}
        value={typeof value === 'number' ? value : ''}
        onChange={(event) => change(event.target.value === '' ? undefined : event.target.valueAsNumber)}
      />
    );
  }
  if (kind === 'string') {
    return (
      <input
        id={id}
        placeholder={otherwise}
        required={required}
        value={text(value)}
        onChange={(event) => change(event.target.value === '' ? undefined : event.target.value)}
      />
    );
  }
  return <JsonInput id={id} placeholder={otherwise} value={value} change={change} />;
}

/** Whatever has no field of its own is written as JSON. */
function JsonInput(props: {
  readonly id: string;
  readonly placeholder: string;
  readonly value: unknown;
  change(value: unknown): void;
}): JSX.Element {
  const [typed, setTyped] = useState(props.value === undefined ? '' : JSON.stringify(props.value));
  const [wrong, setWrong] = useState(false);
  const take = (next: string): void => {
    setTyped(next);
    try {
      props.change(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong(false);
    } catch {
      // Half a value is being written; what was there before stays until it is whole.
      setWrong(true);
    }
  };
  return (
    <>
      <textarea
        id={props.id}
        className="m"
        rows={2}
        placeholder={props.placeholder || 'JSON'}
        aria-invalid={wrong}
        value={typed}
        onChange={(event) => take(event.target.value)}
      />
      {wrong ? <span className="warn xs">not JSON yet</span> : null}
    </>
  );
}
