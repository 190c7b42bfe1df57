// Connection strings in both forms: tables of what is valid and what is not, and properties with generated options.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../testing/property-runs.ts';
import {
  ConnectionStringError,
  type ConnectionStringOptions,
  parseConnectionString,
} from './connection-string.ts';
import { ClientError } from './errors.ts';

describe('a URL', () => {
  it.each<[string, ConnectionStringOptions]>([
    ['vibemq://localhost', { host: 'localhost' }],
    ['vibemq://localhost:2925', { host: 'localhost', port: 2925 }],
    ['  VibeMQ://localhost:1/ \n', { host: 'localhost', port: 1 }],
    ['vibemq://broker.example.org.:65535?', { host: 'broker.example.org.', port: 65_535 }],
    ['vibemq://ann@host', { host: 'host', username: 'ann' }],
    ['vibemq://ann:secret@host', { host: 'host', username: 'ann', password: 'secret' }],
    [
      'vibemq://a%40b:p%3Aq%2F%3F%23%25@host:7',
      { host: 'host', port: 7, username: 'a@b', password: 'p:q/?#%' },
    ],
    ['vibemq://ann:p@s:s@host', { host: 'host', username: 'ann', password: 'p@s:s' }],
    ['vibemq://ann:a+b@host', { host: 'host', username: 'ann', password: 'a+b' }],
    ['vibemq://[::1]', { host: '::1' }],
    [
      'vibemq://ann:x@[fe80::1%25eth0]:2925',
      { host: 'fe80::1%eth0', port: 2925, username: 'ann', password: 'x' },
    ],
    [
      'vibemq://10.0.0.1?tls=true&&keepAlive=1.5&',
      { host: '10.0.0.1', useTls: true, keepAliveIntervalMs: 1500 },
    ],
    ['vibemq://h?queues=a%2C%20b.c,%D0%B4', { host: 'h', queues: ['a', 'b.c', 'д'] }],
    ['vibemq://h?%74ls=%74rue', { host: 'h', useTls: true }],
  ])('%j is read [CLIENT-030]', (text, options) => {
    expect(parseConnectionString(text)).toEqual(options);
  });

  it.each([
    ['http://host', 1, 'the scheme must be vibemq://'],
    ['amqp://ann:secret@host', 1, 'the scheme must be vibemq://'],
    ['vibemq://', 10, 'Host must be a host name or an IP address; it is an empty text'],
    ['vibemq://:2925', 10, 'Host must be a host name or an IP address; it is an empty text'],
    ['vibemq://ann:secret@', 21, 'Host must be a host name or an IP address; it is an empty text'],
    ['vibemq://a b', 10, 'Host must be a host name or an IP address; it is another text'],
    ['vibemq://host:', 15, 'Port must be a number from 1 to 65535; it is an empty text'],
    ['vibemq://host:0', 15, 'Port must be a number from 1 to 65535; it is another number'],
    ['vibemq://host:65536', 15, 'Port must be a number from 1 to 65535; it is another number'],
    ['vibemq://::1', 10, 'host:port is expected; an IPv6 address stands in brackets, like [::1]:2925'],
    ['vibemq://a@[::1', 12, 'an IPv6 address must stand in brackets, like [::1]:2925'],
    ['vibemq://[::1]2925', 10, 'an IPv6 address must stand in brackets, like [::1]:2925'],
    ['vibemq://[host]', 10, 'Host must be a host name or an IP address; it is another text'],
    ['vibemq://[1.2.3.4]', 10, 'Host must be a host name or an IP address; it is another text'],
    [
      'vibemq://host/orders',
      14,
      'a path is not allowed; in a name or password write / as %2F, # as %23 and ? as %3F',
    ],
    [
      'vibemq://host#x',
      14,
      'a path is not allowed; in a name or password write / as %2F, # as %23 and ? as %3F',
    ],
    ['vibemq://ann:a?b@host', 15, '@ is not allowed after ?; in a name or password write ? as %3F'],
    ['vibemq://:secret@host', 10, 'Username must be a text that is not empty; it is an empty text'],
    ['vibemq://ann:@host', 14, 'Password must be a text that is not empty; it is an empty text'],
    [
      'vibemq://ann:10%@host',
      16,
      'after % two hexadecimal digits are expected, which are UTF-8; write % itself as %25',
    ],
    [
      'vibemq://host?queues=%ff',
      22,
      'after % two hexadecimal digits are expected, which are UTF-8; write % itself as %25',
    ],
    ['vibemq://host?tls', 15, 'key=value is expected after ?, and & between them'],
    ['vibemq://host?Port=1', 15, 'port belongs before the ?: vibemq://user:password@host:port'],
    ['vibemq://host?password=x', 15, 'password belongs before the ?: vibemq://user:password@host:port'],
    ['vibemq://host?tls=true&TLS=true', 24, 'tls or useTls is set twice'],
  ])('%j is refused with the place and the reason [CLIENT-030]', (text, position, problem) => {
    expectRefused(text, position, problem);
  });
});

describe('keys and values', () => {
  it.each<[string, ConnectionStringOptions]>([
    ['Host=localhost', { host: 'localhost' }],
    [' host = localhost ; PORT = 2925 ;; ', { host: 'localhost', port: 2925 }],
    ['Host=::1', { host: '::1' }],
    ['Host=[::1];Port=1', { host: '::1', port: 1 }],
    ['Host=h;Username=ann;Password=a=b%41', { host: 'h', username: 'ann', password: 'a=b%41' }],
    [`Host=h;Username="a;b";Password=' ;"x'' '`, { host: 'h', username: 'a;b', password: ' ;"x\' ' }],
    [`Host="h" ;Username="""";Password="a"" "`, { host: 'h', username: '"', password: 'a" ' }],
    [`Host=h;Username=it's;Password=a"b"`, { host: 'h', username: "it's", password: 'a"b"' }],
  ])('%j is read [CLIENT-031]', (text, options) => {
    expect(parseConnectionString(text)).toEqual(options);
  });

  it.each([
    ['', 1, /^the host is missing; a connection string is vibemq:.* or Host=\.\.;/],
    [';;', 1, /^the host is missing/],
    ['Port=2925', 1, /^the host is missing/],
    ['Host=', 1, /^Host must be a host name or an IP address; it is an empty text$/],
    ['Host=h;Password=x', 1, /^a password needs a username$/],
    ['localhost:2925', 1, /^key=value is expected, and ; between them$/],
    ['Host=h; =1', 9, /^key=value is expected/],
    ['Host=h;=1', 8, /^key=value is expected/],
    ['Host=h;Port', 8, /^key=value is expected/],
    ['Host=h;Port=1;Port=1', 15, /^Port is set twice$/],
    ['Host=h;tls=true;useTls=true', 17, /^tls or useTls is set twice$/],
    ['Host=h;Password="x', 17, /^the value has no closing "$/],
    [`Host=h;Username='x''`, 17, /^the value has no closing '$/],
    ['Host=h;Password="x"y', 20, /^; is expected after a value in quotes/],
    [
      'Host=h;keepAlife=1',
      8,
      /^the key "keepAlife" is unknown; keys are Host, Port, .*, tls or useTls, .*, queues$/,
    ],
    ['Host=h;Username=u;Password=x;y=z', 30, /^the key here is unknown/],
  ])('%j is refused with the place and the reason [CLIENT-031]', (text, position, problem) => {
    expectRefused(text, position, problem);
  });
});

/** The same key in both forms, in other cases than the documented one. */
const bothForms = (key: string, value: string) => [
  `vibemq://h?${key.toUpperCase()}=${encodeURIComponent(value)}`,
  `hOST=h;${key.toLowerCase()}="${value}"`,
];

describe('a key', () => {
  it.each<[string, string, Partial<ConnectionStringOptions>]>([
    ['tls', 'true', { useTls: true }],
    ['useTls', 'FALSE', { useTls: false }],
    ['skipCertValidation', 'True', { skipCertificateValidation: true }],
    ['keepAlive', '30', { keepAliveIntervalMs: 30_000 }],
    ['keepAlive', '0.001', { keepAliveIntervalMs: 1 }],
    ['commandTimeout', '2147483', { commandTimeoutMs: 2_147_483_000 }],
    ['commandTimeout', '2.5', { commandTimeoutMs: 2_500 }],
    ['compression', 'None', { compressions: [] }],
    ['compression', 'gzip', { compressions: ['gzip'] }],
    ['compression', 'GZIP, brotli', { compressions: ['gzip', 'brotli'] }],
    ['compressionThreshold', '0', { compressionThresholdBytes: 0 }],
    ['reconnectMaxAttempts', '2147483647', { reconnect: { maxAttempts: 2_147_483_647 } }],
    ['reconnectMaxAttempts', '0', { reconnect: { maxAttempts: 0 } }],
    ['reconnectInitialDelay', '0.2', { reconnect: { initialDelayMs: 200 } }],
    ['reconnectMaxDelay', '300', { reconnect: { maxDelayMs: 300_000 } }],
    ['reconnectExponentialBackoff', 'false', { reconnect: { exponentialBackoff: false } }],
    ['queues', 'a, b', { queues: ['a', 'b'] }],
  ])(
    '%s=%s has its meaning in both forms, in any case [CLIENT-030, CLIENT-031, CLIENT-032]',
    (key, value, options) => {
      for (const text of bothForms(key, value))
        expect(parseConnectionString(text)).toEqual({ host: 'h', ...options });
    },
  );

  it.each([
    ['tls', 'yes', 'true or false; it is "yes"'],
    ['skipCertValidation', '', 'true or false; it is an empty text'],
    ['keepAlive', '0', 'seconds from 0.001 to 2147483, with at most three decimals; it is "0"'],
    [
      'keepAlive',
      '2147483.001',
      'seconds from 0.001 to 2147483, with at most three decimals; it is "2147483.001"',
    ],
    [
      'commandTimeout',
      '1.0001',
      'seconds from 0.001 to 2147483, with at most three decimals; it is "1.0001"',
    ],
    ['commandTimeout', '10s', 'seconds from 0.001 to 2147483, with at most three decimals; it is "10s"'],
    ['compression', 'zstd', 'none, or brotli and gzip separated by a comma; it is "zstd"'],
    ['compression', 'gzip,gzip', 'none, or brotli and gzip separated by a comma; it is "gzip,gzip"'],
    ['compressionThreshold', '-1', 'bytes from 0 to 2147483647; it is "-1"'],
    ['compressionThreshold', '1e3', 'bytes from 0 to 2147483647; it is "1e3"'],
    ['reconnectMaxAttempts', '2147483648', 'a number from 0 to 2147483647; it is "2147483648"'],
    ['reconnectInitialDelay', '.5', 'seconds from 0.001 to 2147483, with at most three decimals; it is ".5"'],
    ['reconnectExponentialBackoff', '1', 'true or false; it is "1"'],
    [
      'queues',
      'a,,b',
      'different queue names separated by commas, each 1 to 256 letters, digits, "-", "_" or "."; it is "a,,b"',
    ],
    [
      'queues',
      'a,a',
      'different queue names separated by commas, each 1 to 256 letters, digits, "-", "_" or "."; it is "a,a"',
    ],
    [
      'queues',
      'a b',
      'different queue names separated by commas, each 1 to 256 letters, digits, "-", "_" or "."; it is another text',
    ],
  ])('%s=%s is refused, with what is allowed', (key, value, allowed) => {
    for (const text of bothForms(key, value))
      expectRefused(text, text.search(/[?;]/) + 2, `${key} must be ${allowed}`);
  });
});

const password = fc.stringMatching(/^Zq[0-9a-f]{6,20}$/);
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const host = fc.oneof(
  fc.ipV4(),
  fc.domain(),
  fc.constantFrom('localhost', '::1', '2001:db8::7', 'fe80::1%eth0'),
);
const durationMs = fc.integer({ min: 1, max: 2_147_483_000 });
const count = fc.integer({ min: 0, max: 2_147_483_647 });
const queues = fc.uniqueArray(fc.stringMatching(/^[\p{L}\p{Nd}_.-]{1,20}$/u), { minLength: 1, maxLength: 4 });
const reconnect = fc.record(
  {
    maxAttempts: count,
    initialDelayMs: durationMs,
    maxDelayMs: durationMs,
    exponentialBackoff: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Options of which `required` are present, and every other one may be. */
function optionsWith(secret: fc.Arbitrary<string>, required: ('username' | 'password')[] = ['username']) {
  return fc.record(
    {
      host,
      port: fc.integer({ min: 1, max: 65_535 }),
      username: name,
      password: secret,
      useTls: fc.boolean(),
      skipCertificateValidation: fc.boolean(),
      keepAliveIntervalMs: durationMs,
      commandTimeoutMs: durationMs,
      compressions: fc.constantFrom([], ['brotli'], ['gzip', 'brotli']),
      compressionThresholdBytes: count,
      reconnect: reconnect.filter((value) => Object.keys(value).length > 0),
      queues,
    },
    { requiredKeys: ['host', ...required] },
  ) as fc.Arbitrary<ConnectionStringOptions>;
}

/** The entries of options but host, port, username and password, with the keys as documented. */
function pairs(options: ConnectionStringOptions): readonly (readonly [string, string])[] {
  const { reconnect: limits = {} } = options;
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : String(ms / 1000));
  const given = {
    useTls: options.useTls,
    skipCertValidation: options.skipCertificateValidation,
    keepAlive: seconds(options.keepAliveIntervalMs),
    commandTimeout: seconds(options.commandTimeoutMs),
    compression: options.compressions?.join(',').replace(/^$/, 'none'),
    compressionThreshold: options.compressionThresholdBytes,
    reconnectMaxAttempts: limits.maxAttempts,
    reconnectInitialDelay: seconds(limits.initialDelayMs),
    reconnectMaxDelay: seconds(limits.maxDelayMs),
    reconnectExponentialBackoff: limits.exponentialBackoff,
    queues: options.queues?.join(','),
  };
  return Object.entries(given).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as const],
  );
}

function formatUrl(options: ConnectionStringOptions): string {
  const { username, password: secret, port } = options;
  const credentials = [username, secret].flatMap((part) =>
    part === undefined ? [] : [encodeURIComponent(part)],
  );
  const user = username === undefined ? '' : `${credentials.join(':')}@`;
  const address = options.host.includes(':') ? `[${encodeURIComponent(options.host)}]` : options.host;
  const query = pairs(options).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `vibemq://${user}${address}${port === undefined ? '' : `:${port}`}?${query.join('&')}`;
}

function formatKeys(options: ConnectionStringOptions): string {
  const { host: address, port, username, password: secret } = options;
  const first = Object.entries({ Host: address, Port: port, Username: username, Password: secret });
  const given = first.flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)] as const]));
  return [...given, ...pairs(options)]
    .map(([key, value]) => `${key}="${value.replaceAll('"', '""')}"`)
    .join(';');
}

/** The error that refuses the text; undefined when it is valid. Fails when it is another error. */
function refusal(text: string): ConnectionStringError | undefined {
  try {
    parseConnectionString(text);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectionStringError);
    return error as ConnectionStringError;
  }
}

function expectRefused(text: string, position: number, problem: string | RegExp): void {
  const error = refusal(text);
  expect(error).toBeInstanceOf(ClientError);
  expect(error).toMatchObject({ name: 'ConnectionStringError', code: 'INVALID_CONNECTION_STRING', position });
  const prefix = `connection string, character ${position}: `;
  expect(error?.message.slice(0, prefix.length)).toBe(prefix);
  expect(error?.message.slice(prefix.length)).toMatch(
    typeof problem === 'string' ? exactly(problem) : problem,
  );
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}

describe('for all options', () => {
  it('both forms are read as the options that were written [CLIENT-030, CLIENT-031]', () => {
    fc.assert(
      fc.property(optionsWith(name), (options) => {
        expect(parseConnectionString(formatUrl(options))).toEqual(options);
        expect(parseConnectionString(formatKeys(options))).toEqual(options);
      }),
    );
  });

  it('the case of the keys makes no difference [CLIENT-032]', () => {
    const inCase = (upper: readonly boolean[]) => (key: string) =>
      [...key].map((unit, at) => (upper[at] === true ? unit.toUpperCase() : unit.toLowerCase())).join('');
    fc.assert(
      fc.property(optionsWith(password), fc.array(fc.boolean(), { minLength: 30 }), (options, upper) => {
        const change = inCase(upper);
        const text = formatKeys({ ...options, username: 'ann' }).replace(/\w+(?==")/g, change);
        const url = formatUrl(options).replace(/(?<=[?&])\w+/g, change);
        expect(parseConnectionString(text)).toEqual({ ...options, username: 'ann' });
        expect(parseConnectionString(url)).toEqual(options);
      }),
    );
  });
});

describe('for all texts', () => {
  it('the error is a ConnectionStringError', () => {
    const part = fc.constantFrom(
      'vibemq://',
      'Host=',
      'Port=',
      '@',
      ':',
      '[',
      ']',
      '/',
      '?',
      '&',
      ';',
      '=',
      '"',
      '%',
      '%4',
    );
    const text = fc.array(fc.oneof(part, fc.string({ maxLength: 5 }))).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (candidate) => void refusal(candidate)),
      { numRuns: runsOf(1_000) },
    );
  });

  it('the message does not contain the password, wherever the text is damaged', () => {
    const damage = fc.constantFrom(
      '',
      '@',
      ':',
      '[',
      ']',
      '/',
      '?',
      '#',
      '&',
      ';',
      '=',
      '"',
      "'",
      '%',
      ' ',
      'x',
    );
    const unquoted = ({ password: secret }: ConnectionStringOptions) =>
      `Host=h;Username=ann;Password=${secret};Port=1;tls=no`;
    const format = fc.constantFrom(formatUrl, formatKeys, unquoted);
    const options = optionsWith(password, ['username', 'password']);
    fc.assert(
      fc.property(
        options,
        format,
        fc.nat(),
        fc.nat({ max: 1 }),
        damage,
        (given, write, seed, cutCount, inserted) => {
          const text = write(given);
          const at = seed % (text.length + 1);
          const damaged = text.slice(0, at) + inserted + text.slice(at + cutCount);
          const message = refusal(damaged)?.message ?? '';
          const secret = given.password ?? '';
          // Half of it would be bad enough.
          expect(message).not.toContain(secret.slice(0, 5));
          expect(message).not.toContain(secret.slice(-5));
        },
      ),
      { numRuns: runsOf(3_000) },
    );
  });
});
