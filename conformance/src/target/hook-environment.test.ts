// What a hook is told: the line that an adapter would get, whatever else the target file says of the addresses.
import { expect, it } from 'vitest';
import schema from '../../schemas/adapter.schema.json' with { type: 'json' };
import { fillConfiguration } from '../configuration.ts';
import { hookEnvironment, listenAddresses } from './hook-environment.ts';
import type { Schema } from './schema-check.ts';
import { schemaFaults } from './schema-check.ts';

it('gets the configuration in the form of the adapter protocol, also where the runner connects with TLS', () => {
  const tcp = { host: '127.0.0.1', port: 2925, tls: { caFile: 'ca.pem', ca: 'the content of the file' } };
  const configuration = { ...fillConfiguration({}, '/data'), ...listenAddresses({ tcp }) };
  const told = JSON.parse(hookEnvironment('start', configuration)['CONFORMANCE_CONFIGURATION'] ?? '');
  expect(schemaFaults(schema.$defs.request as Schema, told, '', schema as Schema)).toEqual([]);
  expect(told.tcp).toEqual({ host: '127.0.0.1', port: 2925 });
});
