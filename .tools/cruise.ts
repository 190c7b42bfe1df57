// Runs dependency-cruiser with our rules over folders of a tree. The rules are proved on trees with forbidden imports
// (import-rules.test.ts), and kept by our tree (architecture.test.ts).
import { createRequire } from 'node:module';
import { cruise, type ICruiseOptions, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';

export type Violation = {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
};

export type Cruise = {
  readonly violations: readonly Violation[];
  readonly moduleCount: number;
  readonly modules: readonly { readonly path: string; readonly imports: readonly string[] }[];
};

type ImportRule = IForbiddenRuleType & { readonly name: string; readonly comment: string };
type Settings = { readonly forbidden: readonly ImportRule[]; readonly options: ICruiseOptions };

const settings = createRequire(import.meta.url)('../.config/dependency-cruiser.cjs') as Settings;

export const importRules = settings.forbidden;

/** Cruises `folders` of `root`; paths in the result are relative to `root`. */
export async function cruiseTree(root: string, folders: readonly string[]): Promise<Cruise> {
  const { output } = await cruise([...folders], {
    ...settings.options,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: [...importRules] },
  });
  const { summary, modules } = output as ICruiseResult;
  return {
    violations: summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      from,
      to,
    })),
    moduleCount: summary.totalCruised,
    modules: modules.map(({ source, dependencies }) => ({
      path: source,
      imports: dependencies.map(({ resolved }) => resolved),
    })),
  };
}
