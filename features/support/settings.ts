// Settings as a scenario writes them, by the names of the configuration.

import assert from 'node:assert/strict';
import { type ConfigurationKey, configurationKeys } from '../../src/config/keys.ts';
import type { Setting } from './drivers/driver.ts';
import { DURATION_FORM, durationMs } from './words.ts';

/** Adds rows of key and text; durations are the scenario's. */
export function applySettings(
  settings: Map<ConfigurationKey, Setting>,
  rows: readonly (readonly string[])[],
): void {
  for (const [key = '', text = ''] of rows) {
    assert.ok(isKey(key), `there is no setting ${key}`);
    const [, amount = '', unit = ''] = DURATION_FORM.exec(text) ?? [];
    const isDuration = configurationKeys[key].kind === 'duration';
    settings.set(key, isDuration ? { durationMs: durationMs(amount, unit) } : text.replace(/ (bytes)?/, ''));
  }
}

function isKey(key: string): key is ConfigurationKey {
  return Object.hasOwn(configurationKeys, key);
}
