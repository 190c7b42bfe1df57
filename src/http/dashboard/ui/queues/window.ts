// Which rows of a long table are drawn: those on the screen and a few around them. All rows have the same height. Pure arithmetic, in pixels.

export type WindowRequest = {
  readonly rowCount: number;
  readonly rowHeight: number;
  /** Where the view begins, counted from the top of the first row; negative while the table begins below. */
  readonly viewTop: number;
  readonly viewHeight: number;
  /** Rows drawn beyond each edge, so that keys and slow scrolling meet no gap. */
  readonly overscan: number;
};

export type RowWindow = {
  /** The first row that is drawn, and the row after the last. */
  readonly first: number;
  readonly end: number;
  /** The heights of what is not drawn. */
  readonly above: number;
  readonly below: number;
};

export function windowOf({ rowCount, rowHeight, viewTop, viewHeight, overscan }: WindowRequest): RowWindow {
  const clamp = (row: number) => Math.min(rowCount, Math.max(0, row));
  const first = clamp(Math.floor(viewTop / rowHeight) - overscan);
  const end = Math.max(first, clamp(Math.ceil((viewTop + viewHeight) / rowHeight) + overscan));
  return { first, end, above: first * rowHeight, below: (rowCount - end) * rowHeight };
}
