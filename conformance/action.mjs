// The script of the GitHub Action (action.yml). Runs the conformance runner, writes the results to the outputs of the job, reports failed
// checks as errors of the job, and ends with the exit code of the gate. Reads its inputs from environment variables and never evaluates
// them. Exit codes are those of the runner; 5 if the runner did not start or wrote no report.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const usageError = 2;
const runnerError = 5;

/** The files of a run. Older ones are removed first, so that they are not used for this run. */
const reportNames = ['events.ndjson', 'report.json', 'report.html', 'junit.xml', 'summary.md', 'verdict.txt'];

/** GitHub shows at most this many errors of a step. */
const maxAnnotations = 10;

/**
 * The words of a command line, quoted as for a POSIX shell: '..' takes everything literally, ".." and \ take the next character literally.
 * Nothing is expanded: no variables, no patterns, no commands. Throws an Error for a quote that is not closed.
 */
function wordsOf(text) {
  const words = [];
  const token =
    /(?<blank>[ \t\r\n]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<plain>[^ \t\r\n'"\\]+)/sy;
  let word;
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) throw new Error(`a quote or a backslash is not complete: ${text.slice(at)}`);
    const { blank, single, double, escaped, plain } = groups;
    if (blank === undefined) {
      word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain);
      continue;
    }
    if (word !== undefined) words.push(word);
    word = undefined;
  }
  return word === undefined ? words : [...words, word];
}

/** One command for GitHub, such as `::error title=..::text`, always on one line. */
function errorCommand(title, text) {
  const data = visible(text).replaceAll('%', '%25').replaceAll('\n', '%0A');
  const property = visible(title)
    .replaceAll('%', '%25')
    .replaceAll('\n', '%0A')
    .replaceAll(':', '%3A')
    .replaceAll(',', '%2C');
  return `::error title=${property}::${data}`;
}

/** Escapes control characters except line feeds, and characters that change the direction of text. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? character : `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`,
  );
}

async function main({ env }) {
  const report = join(env.OUT, 'report.json');
  let command;
  try {
    command = commandOf(env);
    removeReports(env.OUT);
  } catch (error) {
    console.log(errorCommand('TrueMQ conformance', error.message));
    return finish(env, undefined, error.exitCode ?? runnerError);
  }
  const code = await runGuarded(command);
  const found = readReport(report);
  const exitCode = exitCodeOf(code, found);
  for (const line of annotations(found, exitCode, code)) console.log(line);
  if (found === undefined) writeSummary(env, code);
  return finish(env, found, exitCode);
}

function finish(env, report, exitCode) {
  writeOutputs(env, report, exitCode);
  return exitCode;
}

/** Throws if an older report cannot be removed: it would be used for this run. */
function removeReports(folder) {
  for (const path of reportNames.map((name) => join(folder, name))) {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      if (existsSync(path)) throw error;
    }
  }
}

function commandOf({ RUNNER_COMMAND, TARGET, OUT, PROFILES, BASELINE, ARGS, GITHUB_STEP_SUMMARY }) {
  const runner = wordsOfInput('runner', RUNNER_COMMAND || defaultRunner());
  const flags = ['--target', TARGET, '--out', OUT];
  if (PROFILES !== '') flags.push('--profile', PROFILES);
  if (BASELINE !== '') flags.push('--baseline', BASELINE);
  if (GITHUB_STEP_SUMMARY) flags.push('--reporter', 'markdown');
  return [...runner, 'run', ...flags, ...wordsOfInput('args', ARGS)];
}

/** The package in the version of this action. */
function defaultRunner() {
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  return `npx --yes truemq-conformance@${version}`;
}

function wordsOfInput(name, text) {
  try {
    return wordsOf(text);
  } catch (error) {
    throw Object.assign(new Error(`input ${name}: ${error.message}`), { exitCode: usageError });
  }
}

/** Runs the command and returns its exit code. GitHub does not execute commands in its output. */
async function runGuarded(command) {
  const token = `stop-${randomUUID()}`;
  await print(`::stop-commands::${token}\n`);
  const code = await run(command);
  await print(`\n::${token}::\n`);
  return code;
}

/** Resolves when the text is written, so that the output of the runner follows it. */
function print(text) {
  return new Promise((resolve) => process.stdout.write(text, resolve));
}

/** Uses bash, which also finds the scripts that npm installs on Windows. */
function run(command) {
  const child = spawn('bash', ['-c', 'exec "$@"', 'bash', ...command], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.log(error.message);
      resolve(runnerError);
    });
    child.on('exit', (code) => resolve(code ?? runnerError));
  });
}

/** Returns undefined if the report is missing or not readable. */
function readReport(path) {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return report.verdict === undefined ? undefined : report;
  } catch {
    return undefined;
  }
}

/** The exit code of npm or of a shell does not describe a broker. So a code that differs from the report is an error of the runner. */
function exitCodeOf(code, report) {
  if (report === undefined) return code === usageError ? usageError : runnerError;
  return code === report.verdict.exitCode ? code : runnerError;
}

function annotations(report, exitCode, code) {
  if (exitCode === 0) return [];
  if (report === undefined) return [errorCommand('TrueMQ conformance', noReportText(code))];
  const whole = errorCommand('TrueMQ conformance', wholeText(report, exitCode, code));
  const failed = report.results.filter((result) => hasFailed(result, report.run.options.strict));
  const shownCount = failed.length < maxAnnotations ? failed.length : maxAnnotations - 2;
  const shown = failed.slice(0, shownCount).map(failureCommand);
  const others = failed.slice(shownCount).map(({ id }) => id);
  if (others.length === 0) return [whole, ...shown];
  return [whole, ...shown, errorCommand(`${others.length} more checks failed`, others.join(', '))];
}

function noReportText(code) {
  const why = 'The log of this step says why, in its last lines.';
  if (code === usageError)
    return `No broker was tested: an input, a flag or a file is wrong (exit code ${code}). ${why}`;
  return `No broker was tested: the runner did not start or wrote no report (it ended with exit code ${code}). ${why}`;
}

function wholeText({ target, verdict }, exitCode, code) {
  if (exitCode === verdict.exitCode)
    return `${target.name}: the gate is closed (exit code ${exitCode}): ${verdict.reason}`;
  return `${target.name}: the runner ended with exit code ${code}, its report says ${verdict.exitCode}`;
}

/** Whether a result closes the gate: a failure that the baseline expects does not. */
function hasFailed({ outcome, baseline }, strict) {
  return baseline === undefined && (outcome === 'fail' || (strict && outcome === 'warn'));
}

function failureCommand({ id, title, outcome, reason, expected, actual, warnings, reproduce }) {
  const lines = [
    reason ?? warnings?.[0]?.text ?? outcome,
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`came: ${actual}`]),
    `again: ${reproduce}`,
  ];
  return errorCommand(`${id} ${title}`, lines.join('\n'));
}

function writeSummary({ GITHUB_STEP_SUMMARY }, code) {
  if (GITHUB_STEP_SUMMARY)
    appendFileSync(GITHUB_STEP_SUMMARY, `## TrueMQ conformance: undetermined\n\n${noReportText(code)}\n`);
}

/** Without a report, the outputs say `undetermined`. */
function writeOutputs({ GITHUB_OUTPUT, OUT }, report, exitCode) {
  const outputs = {
    verdict: report?.verdict.status ?? 'undetermined',
    gate: exitCode === 0 ? 'open' : 'closed',
    'exit-code': exitCode,
    ...countsOf(report),
    out: OUT,
    events: join(OUT, 'events.ndjson'),
    'report-json': join(OUT, 'report.json'),
    'report-html': join(OUT, 'report.html'),
    junit: join(OUT, 'junit.xml'),
  };
  const end = `end-${randomUUID()}`;
  const lines = Object.entries(outputs).map(([name, value]) => `${name}<<${end}\n${value}\n${end}\n`);
  appendFileSync(GITHUB_OUTPUT, lines.join(''));
}

function countsOf(report) {
  const counts = report?.counts ?? {};
  const [passed, failed, warned] = [counts.pass ?? 0, counts.fail ?? 0, counts.warn ?? 0];
  const { assigned, plan, options } = report?.run ?? {};
  const planned = (assigned ?? plan ?? []).length * (options?.repeat ?? 1);
  return {
    passed,
    failed,
    warned,
    incomplete: planned - passed - failed - warned - (counts['not applicable'] ?? 0),
  };
}

process.exitCode = await main(process);
