// How many tests a runner passed and failed, read from what it left behind. Must not believe an absence: no result, an
// unreadable one, or one in which nothing ran is a failure, and so is a test that was skipped or left pending. What a machine cannot show,
// because a program or a right is missing, is a number of its own; in continuous integration it is a failure.

export type Count = {
  readonly passed: number;
  readonly failed: number;
  /** The tests that this machine cannot show, each with the reason. */
  readonly notShown: readonly string[];
  readonly remarks: readonly string[];
};

export const nothing: Count = { passed: 0, failed: 0, notShown: [], remarks: [] };

export function failure(remark: string): Count {
  return { ...nothing, failed: 1, remarks: [remark] };
}

export function add(counts: readonly Count[]): Count {
  return {
    passed: counts.reduce((sum, count) => sum + count.passed, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, 0),
    notShown: counts.flatMap((count) => count.notShown),
    remarks: counts.flatMap((count) => count.remarks),
  };
}

/** A runner's own count against its exit code: a bad end without a failed test is a failure of its own. */
export function settle(count: Count, exitCode: number): Count {
  if (count.passed + count.failed === 0) return add([count, failure('nothing ran')]);
  if (exitCode !== 0 && count.failed === 0) return add([count, failure(`ended with exit code ${exitCode}`)]);
  return count;
}

/** A tool without tests of its own (formatter, compiler): one test, passed if it ended well. */
export function countExit(exitCode: number): Count {
  return exitCode === 0 ? { ...nothing, passed: 1 } : failure(`ended with exit code ${exitCode}`);
}

/** The line `N passed, N failed` that our own runners end with. */
export function countLastLine(output: string): Count {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const match = /^(\d+) passed, (\d+) failed$/.exec(last.trim());
  if (match === null) return failure('did not end with "N passed, N failed"');
  return { ...nothing, passed: Number(match[1]), failed: Number(match[2]) };
}

type VitestFile = {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    /** Set by src/testing/not-shown.ts. */
    readonly meta?: { readonly notShown?: string };
  }[];
};

/**
 * vitest's JSON reporter. A file that could not be loaded has no tests and counts as one failure. `mustShow`: a test that this machine cannot
 * show has failed.
 */
export function countVitest(json: string, mustShow: boolean): Count {
  const { testResults } = JSON.parse(json) as { testResults: readonly VitestFile[] };
  return add(testResults.map((file) => countVitestFile(file, mustShow)));
}

function countVitestFile(file: VitestFile, mustShow: boolean): Count {
  if (file.assertionResults.length === 0) return failure(`${file.name} ran no test`);
  return add(
    file.assertionResults.map((test) => {
      if (test.status === 'passed') return { ...nothing, passed: 1 };
      const reason = test.meta?.notShown;
      if (reason !== undefined) {
        const remark = `${test.fullName}: ${reason}`;
        return mustShow ? failure(`not shown here: ${remark}`) : { ...nothing, notShown: [remark] };
      }
      return failure(`${test.status}: ${test.fullName}`);
    }),
  );
}

type CucumberStep = { readonly result?: { readonly status: string } };
type CucumberElement = {
  readonly name: string;
  readonly type?: string;
  readonly steps: readonly CucumberStep[];
};
type CucumberFeature = { readonly uri: string; readonly elements?: readonly CucumberElement[] };

/** cucumber's json formatter, one count per scenario; undefined, pending, ambiguous and skipped steps fail it. */
export function countCucumber(json: string): Count {
  const features = JSON.parse(json) as readonly CucumberFeature[];
  const scenarios = features.flatMap((feature) =>
    (feature.elements ?? [])
      .filter((element) => element.type !== 'background')
      .map((element) => countScenario(feature.uri, element)),
  );
  return add(scenarios);
}

function countScenario(uri: string, scenario: CucumberElement): Count {
  const title = `${uri}: ${scenario.name}`;
  if (scenario.steps.length === 0) return failure(`${title}: no steps`);
  const bad = scenario.steps.find((step) => step.result?.status !== 'passed');
  if (bad === undefined) return { ...nothing, passed: 1 };
  return failure(`${title}: ${bad.result?.status ?? 'not run'}`);
}
