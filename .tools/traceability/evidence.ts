// What ran, read from the reports of the three runners, as one flat list: this requirement, shown by this file or check,
// passed or not. Must not believe an absence: a report that is missing, unreadable or empty is a problem, not an empty list.
import type { CoverageKind } from './catalogue.ts';
import type { Finding } from './join.ts';

export type Evidence = {
  readonly kind: CoverageKind;
  /** The requirement. */
  readonly id: string;
  /** Path of the feature or test file from the root, or the id of the check. */
  readonly by: string;
  readonly passed: boolean;
};

export type Reading = {
  readonly evidence: readonly Evidence[];
  /** Tests and checks that name requirements in a way that nobody would find. */
  readonly findings: readonly Finding[];
  /** Why the report is not one to judge by, in words. */
  readonly problems: readonly string[];
};

const bracketsAtEnd = /\[([A-Z]{3,10}-\d{3}(?:, ?[A-Z]{3,10}-\d{3})*)\]$/;
const bracketsAnywhere = /\[[A-Z]{3,10}-\d{3}/;
const tagForm = /^@([A-Z]{3,10}-\d{3})$/;
const checkForm = /^([A-Z]{3,10}-\d{3})[a-z]+$/;

type VitestReport = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly ancestorTitles?: readonly string[];
      readonly status: string;
      /** Present where the machine could not show what the test shows. */
      readonly meta?: { readonly notShown?: string };
    }[];
  }[];
};

/** vitest's JSON reporter. `root` is taken off the file names. Ids stand at the end of a test's title: `.. [FRAME-004]`. */
export function readVitest(json: string, root: string): Reading {
  const { testResults } = JSON.parse(json) as VitestReport;
  const tests = testResults.flatMap((file) =>
    file.assertionResults.map((test) => ({ ...test, by: relative(file.name, root) })),
  );
  return {
    evidence: tests
      .filter(({ meta }) => meta?.notShown === undefined)
      .flatMap(({ title, status, by }) =>
        idsInTitle(title).map((id) => ({ kind: 'tests', id, by, passed: status === 'passed' }) as const),
      ),
    findings: tests.flatMap(({ title, ancestorTitles = [], by }) =>
      (idsInTitle(title).length > 0 ? ancestorTitles : [...ancestorTitles, title])
        .filter((text) => bracketsAnywhere.test(text))
        .map((text) => ({
          id: by,
          text: `names a requirement in "${text}"; move it to the end of a test's own title.`,
        })),
    ),
    problems: tests.length === 0 ? ['it holds no test'] : [],
  };
}

type CucumberReport = readonly {
  readonly uri: string;
  readonly elements?: readonly {
    readonly type?: string;
    readonly tags?: readonly { readonly name: string }[];
    readonly steps: readonly { readonly result?: { readonly status: string } }[];
  }[];
}[];

/** cucumber's json formatter. A scenario's tags name its requirements: `@FRAME-004`. */
export function readCucumber(json: string, root: string): Reading {
  const features = JSON.parse(json) as CucumberReport;
  const evidence: Evidence[] = [];
  let count = 0;
  for (const feature of features) {
    for (const scenario of (feature.elements ?? []).filter((element) => element.type !== 'background')) {
      count += 1;
      const passed =
        scenario.steps.length > 0 && scenario.steps.every((step) => step.result?.status === 'passed');
      const ids = (scenario.tags ?? []).flatMap((tag) => tagForm.exec(tag.name)?.[1] ?? []);
      const by = relative(feature.uri, root);
      evidence.push(...ids.map((id) => ({ kind: 'features', id, by, passed }) as const));
    }
  }
  return { evidence, findings: [], problems: count === 0 ? ['it holds no scenario'] : [] };
}

type ConformanceReport = {
  readonly results: readonly {
    readonly id: string;
    readonly outcome: string;
    readonly clauses: readonly string[];
  }[];
};

/** The runner's report. A check that was not applicable or could not run has shown nothing and is left out. */
export function readConformance(json: string): Reading {
  const { results } = JSON.parse(json) as ConformanceReport;
  const ran = results.filter(({ outcome }) => outcome !== 'not applicable' && outcome !== 'could not run');
  return {
    evidence: ran.flatMap(({ id, outcome, clauses }) =>
      clauses.map((clause) => ({ kind: 'checks', id: clause, by: id, passed: outcome === 'pass' }) as const),
    ),
    findings: results.flatMap(({ id, clauses }) =>
      clauses.includes(checkForm.exec(id)?.[1] ?? '')
        ? []
        : [
            {
              id,
              text: `must be one of its clauses (${clauses.join(', ')}) followed by a letter: rename the check.`,
            },
          ],
    ),
    problems: ran.length === 0 ? ['it holds no check that ran'] : [],
  };
}

function idsInTitle(title: string): readonly string[] {
  return bracketsAtEnd.exec(title)?.[1]?.split(/, ?/) ?? [];
}

function relative(path: string, root: string): string {
  const slashed = path.replaceAll('\\', '/');
  const prefix = `${root.replaceAll('\\', '/').replace(/\/$/, '')}/`;
  return slashed.startsWith(prefix) ? slashed.slice(prefix.length) : slashed;
}
