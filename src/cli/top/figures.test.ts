// Figures in few characters.

import { expect, it } from 'vitest';
import { ageText, bytesText, countText, latencyText, rateText } from './figures.ts';

it.each([
  [countText(0), '0'],
  [countText(9_999_999), '9999999'],
  [countText(12_345_678), '12.3M'],
  [countText(2_147_483_647), '2.1G'],
  [rateText(0), '0'],
  [rateText(0.25), '0.3'],
  [rateText(9.94), '9.9'],
  [rateText(9.96), '10'],
  [rateText(1234.5), '1235'],
  [bytesText(512), '512 B'],
  [bytesText(1536), '1.5 KiB'],
  [bytesText(536_870_912), '512 MiB'],
  [ageText(-5), '0s'],
  [ageText(59_999), '59s'],
  [ageText(303_000), '5m03s'],
  [ageText(8_100_000), '2h15m'],
  [ageText(273_600_000), '3d04h'],
  [ageText(86_400_000 * 400), '400d'],
  [latencyText(null), '-'],
  [latencyText(0.04), '0.0 ms'],
  [latencyText(9.94), '9.9 ms'],
  [latencyText(80.4), '80 ms'],
  [latencyText(1500), '1.5 s'],
  [latencyText(60_000), '60 s'],
])('%s is %s', (text, expected) => {
  expect(text).toBe(expected);
});
