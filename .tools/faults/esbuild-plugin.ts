// Plants faults into what esbuild bundles: a source is taken as it would be with its fault in it.
import { basename, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import type { Planted } from './planter.ts';

export function plantingPlugin(root: string, planted: Planted): Plugin {
  const path = resolve(root, planted.path);
  // Each file that fits is asked for from another process, so only those of this name are.
  const filter = new RegExp(`${basename(path).replaceAll('.', '[.]')}$`);
  return {
    name: 'plant-fault',
    setup: (builder) => {
      builder.onLoad({ filter }, (args) =>
        args.path === path ? { contents: planted.text, loader: 'ts' } : undefined,
      );
    },
  };
}
