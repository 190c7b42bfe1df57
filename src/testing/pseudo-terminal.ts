// Runs a program in a pseudo terminal, with Python's module for them: Node.js has none. The test says what to type after which text.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Types `keys`, or closes the terminal, when `after` has appeared since the last step. */
export type TerminalStep = { readonly after: string } & (
  | { readonly keys: string }
  | { readonly closes: true }
);

export type TerminalRun = {
  /** What the terminal showed, with its line ends as LF. */
  readonly output: string;
  /** Negative: the number of the signal that ended the program. */
  readonly exitCode: number;
};

const DRIVER = `
import json, os, pty, select, sys
argv, steps = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
output, start = b'', 0
while True:
    if steps:
        at = output.find(steps[0]['after'].encode(), start)
        if at >= 0:
            step = steps.pop(0)
            start = at + len(step['after'].encode())
            if step.get('closes'):
                os.close(terminal)
                break
            os.write(terminal, step['keys'].encode())
            continue
    if not select.select([terminal], [], [], 60)[0]:
        os.kill(pid, 9)
        break
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    output += chunk
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({'output': output.decode().replace('\\r\\n', '\\n'), 'exitCode': code}))
`;

/** Runs to its end; a program that shows nothing for a minute is killed. */
export async function runInTerminal(
  argv: readonly string[],
  steps: readonly TerminalStep[],
): Promise<TerminalRun> {
  const driver = spawn('python3', ['-c', DRIVER, JSON.stringify(argv), JSON.stringify(steps)]);
  const [output, errors] = await Promise.all([text(driver.stdout), text(driver.stderr)]);
  if (driver.exitCode === null) await once(driver, 'close');
  if (errors !== '') throw new Error(`the driver of the terminal failed: ${errors}`);
  return JSON.parse(output) as TerminalRun;
}
