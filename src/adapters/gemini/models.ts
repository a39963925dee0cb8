import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { google } from '../../models/facts/google.ts';
import type { Catalogue } from '../define.ts';

const options: BundleOptions = { agent: 'gemini', asOf: '2026-11-15', cliArgKey: '-m', deployment: 'hosted' };

const models = [
  { fact: google.auto },
  { fact: google.pro31, alias: 'pro' },
  { fact: google.flash38, alias: 'flash' },
  { fact: google.flash35lite, alias: 'flash-lite' },
  { fact: google.flash3 },
  { fact: google.pro25 },
  { fact: google.flash25 },
  { fact: google.flash25lite },
].map((row) => bundledModel(options, row));

export const catalogue: Catalogue = {
  models,
  defaultModelId: 'auto',
  modelsAsOf: options.asOf,
  modelsSource: 'the models that Gemini CLI 0.61.0 offers, the price data of this package',
  listing: { engine: 'gemini', path: '/v1beta/models?pageSize=1000' },
};
