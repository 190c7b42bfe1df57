// The list of published check ids: read, compared with the catalogue, written. Pure. A line is an id, or a withdrawn id with a
// reason: `FRAME-004c withdrawn: it judged two rules at once, see FRAME-004d`.

export type PublishedId = {
  readonly id: string;
  /** Why the check does not exist any more. */
  readonly withdrawn?: string;
};

const lineForm = /^([A-Z]+-\d{3}[a-z])(?: withdrawn: (\S.*))?$/;

const head = [
  '# Every id of a check that was ever published. Ids are permanent; a check that goes stays here as',
  '# "ID withdrawn: why". New ones are added by: node --import tsx conformance/selftest/ids.ts --write',
];

/** Throws for an invalid line. */
export function readIds(text: string): readonly PublishedId[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, id, withdrawn] = lineForm.exec(line.trim()) ?? [];
    if (id === undefined) throw new Error(`ids.txt: "${line}" is neither an id nor "ID withdrawn: why"`);
    return withdrawn === undefined ? { id } : { id, withdrawn };
  });
}

type Identified = { readonly id: string };

/** The mistakes in the list, one sentence each. */
export function publishedFaults(
  published: readonly PublishedId[],
  checks: readonly Identified[],
): readonly string[] {
  const present = new Set(checks.map(({ id }) => id));
  const ids = published.map(({ id }) => id);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} is listed twice`),
    ...published.flatMap(({ id, withdrawn }) => {
      if (withdrawn === undefined && !present.has(id)) {
        return [
          `${id} was published and there is no such check: bring it back, or write "${id} withdrawn: why"`,
        ];
      }
      return withdrawn !== undefined && present.has(id)
        ? [`${id} was withdrawn and is used again: give the check another letter`]
        : [];
    }),
  ];
}

/** Checks whose id is not in the list yet. This is allowed until they are published. */
export function unlistedIds(
  published: readonly PublishedId[],
  checks: readonly Identified[],
): readonly string[] {
  const listed = new Set(published.map(({ id }) => id));
  return checks.map(({ id }) => id).filter((id) => !listed.has(id));
}

/** The list with the missing ids added, in the order of the ids. Never removes an id. */
export function writtenIds(published: readonly PublishedId[], checks: readonly Identified[]): string {
  const added = unlistedIds(published, checks).map((id): PublishedId => ({ id }));
  const all = [...published, ...added].sort((a, b) => (a.id < b.id ? -1 : 1));
  const lines = all.map(({ id, withdrawn }) =>
    withdrawn === undefined ? id : `${id} withdrawn: ${withdrawn}`,
  );
  return `${[...head, ...lines].join('\n')}\n`;
}
