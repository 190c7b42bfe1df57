// The data of the commands: the catalogue of checks with their requirements, the golden frames, and the planted faults.
import type { Catalogue } from '../catalogue.ts';
import { catalogueOf } from '../catalogue.ts';
import { checks } from '../checks/index.ts';
import { once } from '../once.ts';
import type { SuiteData } from '../suite-data.ts';
import { loadSuiteData } from '../suite-data.ts';

export type Sources = {
  readonly catalogue: Catalogue;
  readonly golden: SuiteData['golden'];
  /** Default: none. */
  readonly faults?: SuiteData['faults'];
};

/** Each is read when it is asked for. */
export function loadSources(): Sources {
  const data = loadSuiteData();
  const catalogue = once(() => catalogueOf(checks, data.requirements));
  return {
    get catalogue() {
      return catalogue();
    },
    get golden() {
      return data.golden;
    },
    get faults() {
      return data.faults;
    },
  };
}
