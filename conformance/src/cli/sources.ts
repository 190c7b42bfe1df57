// The data of the commands: the catalogue of checks with their requirements, the golden frames, and the planted faults.
import type { Catalogue } from '../catalogue.ts';
import { catalogueOf } from '../catalogue.ts';
import { checks } from '../checks/index.ts';
import type { SuiteData } from '../suite-data.ts';
import { loadSuiteData } from '../suite-data.ts';

export type Sources = {
  readonly catalogue: Catalogue;
  readonly golden: SuiteData['golden'];
  /** Default: none. */
  readonly faults?: SuiteData['faults'];
};

export function loadSources(): Sources {
  const data = loadSuiteData();
  return { catalogue: catalogueOf(checks, data.requirements), golden: data.golden, faults: data.faults };
}
