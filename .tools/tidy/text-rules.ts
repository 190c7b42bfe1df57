// Tidy rules about what no file may contain: traces of one machine, registries, and links that lead nowhere.
import { dirname, normalize } from 'node:path/posix';
import { anchorsOf, linksOf } from '../markdown.ts';
import { type File, isData, isTest, matchingLines, type Rule } from './file.ts';

const machinePath = /(^|[^\w.@-])(\/(work|home|root|Users)\/\w|\.\.\/shared\b|[A-Z]:\\Users\\)/;
const temporaryPath = /(^|[^\w.$}-])\/(var\/)?tmp\//;

export const noMachinePaths: Rule = {
  name: 'no paths of one machine',
  check: (files) =>
    files
      .filter((file) => !isData(file.path))
      .flatMap((file) => [
        ...matchingLines(file, machinePath, 'is a path of one machine'),
        ...(isTest(file.path) ? [] : matchingLines(file, temporaryPath, 'is a path of one machine')),
      ]),
};

const registry =
  /\bregistry\.[a-z0-9-]+\.[a-z]+|\b[a-z0-9.-]*(artifactory|jfrog|verdaccio|npmmirror)[a-z0-9.-]*\.[a-z]+/i;

export const noRegistryHosts: Rule = {
  name: 'no package registry is named',
  check: (files) => files.flatMap((file) => matchingLines(file, registry, 'names a registry')),
};

export const linksResolve: Rule = {
  name: 'every relative link in a document leads somewhere',
  check: (files) => {
    const tree = readTree(files);
    return files.filter((file) => file.path.endsWith('.md')).flatMap((file) => brokenLinks(file, tree));
  },
};

export const documentsLinked: Rule = {
  name: 'every document is linked from another one',
  check: (files) => {
    const documents = files.filter((file) => file.path.endsWith('.md'));
    const linked = new Set(
      documents.flatMap((file) => linkedPaths(file).filter((path) => path !== file.path)),
    );
    return documents
      .filter((file) => file.path.includes('/') && !linked.has(file.path))
      .map((file) => `${file.path} is linked from nowhere`);
  },
};

type Tree = {
  readonly paths: ReadonlySet<string>;
  readonly anchors: ReadonlyMap<string, ReadonlySet<string>>;
};

function readTree(files: readonly File[]): Tree {
  const documents = files.filter((file) => file.path.endsWith('.md'));
  const folders = files.flatMap((file) => foldersOf(file.path));
  return {
    paths: new Set([...files.map((file) => file.path), ...folders, '.']),
    anchors: new Map(documents.map((file) => [file.path, new Set(anchorsOf(file.text))])),
  };
}

function foldersOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...foldersOf(parent)];
}

function relativeLinksOf(file: File): readonly string[] {
  return linksOf(file.text).filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

function linkedPaths(file: File): readonly string[] {
  return relativeLinksOf(file).map((target) => targetPath(file, target.split('#')[0] ?? ''));
}

function brokenLinks(file: File, tree: Tree): readonly string[] {
  return relativeLinksOf(file)
    .filter((target) => !leadsSomewhere(file, target, tree))
    .map((target) => `${file.path}: the link to ${target} leads nowhere`);
}

function leadsSomewhere(file: File, target: string, tree: Tree): boolean {
  const [path = '', anchor] = target.split('#');
  const absolute = targetPath(file, path);
  if (!tree.paths.has(absolute)) return false;
  const anchors = tree.anchors.get(absolute);
  return anchor === undefined || anchors === undefined || anchors.has(anchor);
}

function targetPath(file: File, path: string): string {
  if (path === '') return file.path;
  return normalize(`${dirname(file.path)}/${decodeURI(path)}`).replace(/\/$/, '');
}
