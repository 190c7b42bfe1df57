// Runs dependency-cruiser with our rules over folders of a tree. Apart from the command so that its test can hand it
// trees with forbidden imports.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser';

export type Violation = {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
  readonly comment: string;
};

export type Cruise = {
  readonly violations: readonly Violation[];
  readonly ruleNames: readonly string[];
  readonly moduleCount: number;
};

type Settings = { readonly forbidden: IFlattenedRuleSet['forbidden']; readonly options: ICruiseOptions };

const settingsPath = fileURLToPath(new URL('../../.config/dependency-cruiser.cjs', import.meta.url));

/** Cruises `folders` of `root`; paths in the result are relative to `root`. */
export async function cruiseTree(root: string, folders: readonly string[]): Promise<Cruise> {
  const settings = createRequire(import.meta.url)(settingsPath) as Settings;
  const forbidden = settings.forbidden ?? [];
  const { output } = await cruise([...folders], {
    ...settings.options,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden },
  });
  const { summary } = output as ICruiseResult;
  return {
    violations: summary.violations.map(({ rule, from, to }) => ({
      rule: rule.name,
      from,
      to,
      comment: forbidden.find((candidate) => candidate.name === rule.name)?.comment ?? '',
    })),
    ruleNames: forbidden.map((rule) => rule.name ?? ''),
    moduleCount: summary.totalCruised,
  };
}
