import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';

type Step = string | number;
type Tree = { [step: Step]: Json | Tree } | (Json | Tree)[];

const STEP = /\.([^.[]+)|\[(\d+)\]|\['([^']+)'\]/g;

/** A list longer than this is no argument but a mistake of the model, and would cost memory. */
const MOST_ELEMENTS = 10_000;

/** `$.places[0].name` as its steps. */
function stepsOf(path: string): Step[] {
  return [...path.matchAll(STEP)].map(([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? '') : Number(index)));
}

/** Arguments that arrive value by value (`partialArgs`), each under its path; text goes on where it stopped. */
export class PartialArgs {
  // Paths come from a model: an object without a prototype has no members it could overwrite.
  readonly #root: Tree = Object.create(null);

  add(partials: Json | undefined): void {
    if (!Array.isArray(partials)) return;
    for (const partial of listIn(partials)) if (isJsonObject(partial)) this.#set(partial);
  }

  json(): string {
    return JSON.stringify(this.#root);
  }

  #set(partial: JsonObject): void {
    const steps = stepsOf(String(partial.jsonPath ?? ''));
    const last = steps.pop();
    if (last === undefined || [...steps, last].some((step) => typeof step === 'number' && step > MOST_ELEMENTS)) return;
    let tree = this.#root;
    steps.forEach((step, depth) => {
      tree = below(tree, step, typeof (steps[depth + 1] ?? last) === 'number');
    });
    const known = at(tree, last);
    const value = partial.stringValue ?? partial.numberValue ?? partial.boolValue ?? null;
    put(tree, last, typeof known === 'string' && typeof value === 'string' ? known + value : value);
  }
}

function at(tree: Tree, step: Step): Json | Tree | undefined {
  return Array.isArray(tree) ? tree[Number(step)] : tree[step];
}

function put(tree: Tree, step: Step, value: Json | Tree): void {
  if (Array.isArray(tree)) tree[Number(step)] = value;
  else tree[step] = value;
}

function below(tree: Tree, step: Step, isList: boolean): Tree {
  const known = at(tree, step);
  // Everything but scalars in the tree was put there by this function.
  if (typeof known === 'object' && known !== null) return known as Tree;
  const next: Tree = isList ? [] : Object.create(null);
  put(tree, step, next);
  return next;
}
