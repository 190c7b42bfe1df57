#!/usr/bin/env node
// Starts the built runner. Not built is the one thing that can be wrong here, and it says so.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.mjs', import.meta.url);
if (!existsSync(built)) {
  process.stderr.write('truemq-conformance is not built. In the repository, run: npm run build\n');
  process.exit(5);
}
await import(built.href);
