// Which hosts the list of allowed hosts may have: those that a request can name in its Host header.

import { describe, expect, it } from 'vitest';
import { loadGiven, problemsOf } from '../testing/tested-configuration.ts';

const ALLOWED =
  'allowed is host names in ASCII such as broker.example, or IP addresses, separated by commas, without scheme, port and path';

describe('the allowed hosts', () => {
  it.each([
    'a/b',
    'http://x',
    'x y',
    '',
    'x:8080',
    'x,,y',
    'x,a/b',
    '*.x',
    'x.',
    '.x',
    'bücher.example',
    'u@x',
  ])('are refused with one that no request can have: %j [CONFIG-003]', (hosts) => {
    expect(problemsOf({ flags: { 'allowed-hosts': hosts } })).toEqual([
      `allowedHosts (flag --allowed-hosts): came ${JSON.stringify(hosts)}; ${ALLOWED}`,
    ]);
    const list = JSON.stringify(hosts.split(','));
    expect(problemsOf({ file: `allowedHosts: ${list}` })).toEqual([
      `allowedHosts (file truemq.yaml): came ${list}; ${ALLOWED}`,
    ]);
  });

  it('are refused when there are none: localhost and IP addresses are allowed in any case', () => {
    expect(problemsOf({ file: 'allowedHosts: []' })).toEqual([
      `allowedHosts (file truemq.yaml): came []; ${ALLOWED}`,
    ]);
  });

  it.each([
    'x',
    'broker.example',
    'My-Host_2.local',
    'xn--bcher-kva.example',
    '192.0.2.1',
    '::1',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '::',
  ])('may have %s', (host) => {
    const { allowedHosts } = loadGiven({ flags: { 'allowed-hosts': `${host}, y` } }).configuration;
    expect(allowedHosts).toEqual([host, 'y']);
  });
});

it.each([
  ['broker.example.', 'broker.example'],
  ['b\u00fccher.example', undefined],
  ['*', undefined],
  ['::1', '::1'],
])(
  'are by default what a request can name of the address %s, so that the printed configuration can be read',
  (host, name) => {
    const { configuration, settings } = loadGiven({ flags: { host } });
    const expected = [...(name === undefined ? [] : [name]), '127.0.0.1', 'localhost'];
    expect(configuration.allowedHosts).toEqual(expected);
    const printed = settings.find(({ key }) => key === 'allowedHosts')?.text;
    expect(problemsOf({ flags: { host, 'allowed-hosts': String(printed) } })).toEqual([]);
  },
);
