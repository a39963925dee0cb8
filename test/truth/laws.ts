import { dialects } from '../../src/dialects/index.ts';
import { tryAcceptable } from './acceptable.ts';
import { tryAnswer, tryStream } from './answers.ts';
import { describedAnswers, describedPairs, describedRequests } from './described.ts';
import { type Descriptions, readDescriptions } from './descriptions.ts';
import { tryEcho } from './echo.ts';
import { tryFates, tryStrangers, vocabularyOf } from './fates.ts';
import { hardCases, thoughtfulCases } from './hard-cases.ts';
import { tryAnswerLabels, tryRequestLabels, tryStreamLabels } from './labels.ts';
import { tryNumbers } from './numbers.ts';
import { meetings, ShapeScene, shapesFor } from './other-shapes.ts';
import { rivals } from './rivals.ts';
import {
  allRecorded,
  fixtureAnswers,
  fixtureRequests,
  fixtureStreams,
  recordedAnswers,
  recordedRequests,
  recordedStreams,
  type SampleAnswer,
  type SampleRequest,
  TARGETS,
} from './sources.ts';
import { tryStreamed } from './streamed.ts';
import { newTally, type Tally } from './tally.ts';
import { tryValidity } from './validity.ts';
import { Wire } from './wire.ts';

/** A line of the table: what is claimed, and how often it was tried. */
export interface LawResult {
  readonly id: string;
  readonly claim: string;
  readonly tally: Tally;
}

/** The samples that all laws about requests are tried with: the fixtures of the repository, cases made to be hard, and everything recorded. */
function requestsOfAll(): SampleRequest[] {
  return [...fixtureRequests(), ...hardCases(), ...thoughtfulCases(), ...recordedRequests()];
}

/** The same for laws about answers, with every kind of part that a vendor describes. */
interface Described {
  readonly requests: readonly SampleRequest[];
  readonly pairs: readonly SampleRequest[];
  readonly answers: readonly SampleAnswer[];
}

function eachRequest(requests: readonly SampleRequest[], run: (sample: SampleRequest, target: (typeof TARGETS)[number]) => void): void {
  for (const sample of requests) for (const target of TARGETS) if (target.dialect.id !== sample.from) run(sample, target);
}

function eachOwn(...[requests, run]: Parameters<typeof eachRequest>): void {
  for (const sample of requests) for (const target of TARGETS) if (target.dialect.id === sample.from) run(sample, target);
}

function answersOf(described: Described): readonly SampleAnswer[] {
  return [...fixtureAnswers(), ...recordedAnswers(), ...described.answers];
}

/** Laws about answers on their way to callers of every dialect. */
function* answerLaws(described: Described): Generator<LawResult> {
  const answers = newTally();
  const told = answersOf(described);
  for (const sample of told) for (const { id } of dialects) tryAnswer(sample, id, answers);
  for (const sample of [...fixtureStreams(), ...recordedStreams()]) for (const { id } of dialects) tryStream(sample, id, answers);
  yield { id: 'answers', claim: 'Law 1: every leaf of an answer has a fate in the receipt, and it is true', tally: answers };

  const streamed = newTally();
  for (const sample of told) for (const { id } of dialects) tryStreamed(sample, id, streamed);
  yield { id: 'streamed', claim: 'A streamed answer and its receipt say what they say of the same answer whole', tally: streamed };
}

/** Laws that need no server, each tried over everything there is. */
function* offlineLaws(descriptions: Descriptions, described: Described): Generator<LawResult> {
  const requests = requestsOfAll();
  const valid = newTally();
  eachRequest(requests, (sample, target) => tryValidity(sample, target, descriptions.requests, valid));
  yield {
    id: 'mapped',
    claim: 'Mapped requests are valid by the vendor’s own description, or a refusal that names the place',
    tally: valid,
  };

  yield* answerLaws(described);

  const fates = newTally();
  const words = vocabularyOf([...requests, ...described.requests]);
  eachRequest(requests, (sample, target) => tryFates(sample, target, fates, { words }));
  eachRequest([...described.requests, ...described.pairs], (sample, target) => tryFates(sample, target, fates, { words }));
  yield {
    id: 'fates',
    claim:
      'Law 2: changing a leaf that arrives changes the upstream request, changing a dropped one does not, and on an emulated one something depends',
    tally: fates,
  };

  const own = newTally();
  const competing = rivals();
  const told = vocabularyOf(competing);
  for (const sample of competing) for (const target of TARGETS) tryFates(sample, target, own, { words: told });
  eachOwn([...requests, ...described.requests, ...described.pairs], (sample, target) => tryFates(sample, target, own, { words }));
  yield {
    id: 'rivals',
    claim: 'Law 2 where one field goes before another or means nothing without it, and where a request stays in its own dialect',
    tally: own,
  };

  const strangers = newTally();
  for (const each of [eachRequest, eachOwn])
    each([...requests, ...described.requests], (sample, target) => tryStrangers(sample, target, strangers));
  yield {
    id: 'strangers',
    claim: 'A member that nobody knows, in any object of a request, arrives, is said to be dropped, or is refused',
    tally: strangers,
  };

  const numbers = newTally();
  eachRequest(requests, (sample, target) => tryNumbers(sample, target, numbers));
  yield { id: 'numbers', claim: 'Law 3: numbers beyond a double survive in schemas and arguments', tally: numbers };

  const answered = answersOf(described);
  const echoes = newTally();
  for (const sample of answered) for (const target of TARGETS) tryEcho(sample, target, echoes);
  yield { id: 'echo', claim: 'Law 4: an answer sent back as its SDK does is served by every engine', tally: echoes };

  const acceptable = newTally();
  eachRequest([...requests, ...described.requests], (sample, target) => tryAcceptable(sample, target, acceptable));
  yield { id: 'acceptable', claim: 'Law 5: what leaves keeps the vendor’s rules beyond its description', tally: acceptable };

  const labels = newTally();
  eachRequest([...requests, ...described.requests, ...competing], (sample, target) => tryRequestLabels(sample, target, labels));
  for (const { id } of dialects) {
    for (const sample of answered) tryAnswerLabels(sample, id, labels);
    for (const sample of [...fixtureStreams(), ...recordedStreams()]) tryStreamLabels(sample, id, labels);
  }
  yield { id: 'labels', claim: 'The emulations of a receipt are those that its fidelity records name', tally: labels };
}

/** Laws about what goes over the wire, through a real gateway. */
async function* wireLaws(): AsyncGenerator<LawResult> {
  const wire = await Wire.open();
  try {
    const [sent, told] = [newTally(), newTally()];
    for (const recorded of allRecorded()) await wire.tryPassthrough(recorded, sent, told);
    yield { id: 'passthrough-requests', claim: 'Passthrough requests reach the engine byte for byte', tally: sent };
    yield { id: 'passthrough-answers', claim: 'Passthrough answers reach the caller byte for byte', tally: told };

    const explained = newTally();
    const targets = TARGETS.filter(({ engine }) => engine.endpoint !== undefined);
    for (const sample of recordedRequests())
      for (const target of targets) if (target.dialect.id !== sample.from) await wire.tryExplain(sample, target, explained);
    yield { id: 'explain', claim: '`explain` says what then happens: the same upstream bytes, or the same refusal', tally: explained };
  } finally {
    await wire.close();
  }
}

/** What engines say under a good status that is none of their answers. */
async function shapeLaw(): Promise<LawResult> {
  const scene = await ShapeScene.open();
  try {
    const shapes = newTally();
    for (const meeting of meetings()) for (const shape of shapesFor(meeting)) await scene.tryShape(meeting, shape, shapes);
    return {
      id: 'shapes',
      claim: 'What is no answer of an engine is a 502 in the caller’s shape, or an error event of a stream',
      tally: shapes,
    };
  } finally {
    await scene.close();
  }
}

/** Tries everything, one line at a time. */
export async function* allLaws(): AsyncGenerator<LawResult> {
  yield* wireLaws();
  yield await shapeLaw();
  const described = { requests: await describedRequests(), pairs: await describedPairs(), answers: await describedAnswers() };
  yield* offlineLaws(await readDescriptions(), described);
}
