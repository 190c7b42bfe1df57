// A sparkline as the path of an SVG: the depths of a queue from left to right, the highest touching the top. Pure.

export type SparkBox = { readonly width: number; readonly height: number; readonly slots: number };

/** Empty when there is nothing to draw: fewer than two depths, or all of them 0. The newest depth is at the right edge. */
export function sparkPath(depths: readonly number[], { width, height, slots }: SparkBox): string {
  const highest = Math.max(0, ...depths);
  if (depths.length < 2 || highest === 0) return '';
  const step = width / (slots - 1);
  const left = width - (depths.length - 1) * step;
  const points = depths.map((depth, index) => {
    const y = height - (depth / highest) * height;
    return `${round(left + index * step)} ${round(y)}`;
  });
  return `M${points.join('L')}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
