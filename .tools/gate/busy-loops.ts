// Busy loops beside a measurement, each a process of its own: the load of a shared machine. They end with this process, or when told.
import { spawn } from 'node:child_process';

/** Returns what ends them. */
export function startBusyLoops(count: number): () => void {
  // Standard input closes when this process ends in whatever way.
  const code =
    "process.stdin.on('end', () => process.exit()).resume(); setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 0)";
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  return () => {
    for (const child of children) child.kill();
  };
}
