// The request to the dashboard over real HTTP: what it sends, and why it ended, in words.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeDashboard, type FakeStream, startFakeDashboard } from '../../testing/fake-dashboard.ts';
import { VirtualEnvironment } from '../../testing/virtual-environment.ts';
import { MAX_SILENCE_MS, openEvents, type StreamEnd } from './event-request.ts';
import type { StreamEvent } from './event-stream.ts';

const open: { readonly close: () => unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function startDashboard(
  onStream: (stream: FakeStream) => void,
  credentials?: string,
): Promise<FakeDashboard> {
  const dashboard = await startFakeDashboard({ onStream, ...(credentials && { credentials }) });
  open.push(dashboard);
  return dashboard;
}

/** A server that answers everything in one way. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => server.close() && server.closeAllConnections() });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const environment = new VirtualEnvironment();

/** The events until the stream ended, and why it did. */
function request(
  url: string,
  {
    credentials,
    onEvent,
  }: {
    readonly credentials?: { readonly username: string; readonly password: string };
    readonly onEvent?: (event: StreamEvent) => void;
  } = {},
): Promise<StreamEnd & { readonly events: readonly StreamEvent[] }> {
  return new Promise((resolve) => {
    const events: StreamEvent[] = [];
    const { scheduler } = environment;
    openEvents(
      { url: new URL('api/events', url), credentials, scheduler },
      {
        onEvent: (event) => {
          events.push(event);
          onEvent?.(event);
        },
        onEnd: (end) => resolve({ ...end, events }),
      },
    );
  });
}

describe('a request for events', () => {
  it('passes events on, and says that the broker closed the connection', async () => {
    const { url } = await startDashboard(({ send, end, headers }) => {
      send('change', [headers.accept, headers.authorization]);
      end();
    });
    expect(await request(url)).toEqual({
      events: [{ name: 'change', data: '["text/event-stream",null]' }],
      reason: 'the broker closed the connection',
      asksForCredentials: false,
    });
  });

  it('sends name and password by HTTP Basic', async () => {
    const { url } = await startDashboard(({ end }) => end(), 'ü:secret');
    expect(await request(url, { credentials: { username: 'ü', password: 'secret' } })).toMatchObject({
      reason: 'the broker closed the connection',
    });
    expect(await request(url)).toMatchObject({ asksForCredentials: true });
    expect(await request(url, { credentials: { username: 'ü', password: 'wrong' } })).toMatchObject({
      asksForCredentials: true,
    });
  });

  it('says what the answer was when it is no stream', async () => {
    const { url } = await startDashboard(() => undefined);
    expect((await request(`${url}x/`)).reason).toBe('the answer has status 404: There is nothing here.');
    const page = await startServer((_, response) => void response.end('<html>'));
    expect((await request(page)).reason).toMatch(/^the answer is no event stream/);
    const large = await startServer((_, response) => {
      response.writeHead(500);
      response.end('x'.repeat(100_000));
    });
    expect((await request(large)).reason).toBe(
      'the answer has status 500: is this the address of a dashboard?',
    );
  });

  it('says that nobody listens', async () => {
    const dashboard = await startFakeDashboard({ onStream: () => undefined });
    await dashboard.close();
    expect((await request(dashboard.url)).reason).toBe(`nobody listens on ${new URL(dashboard.url).host}`);
  });

  it('says that a connection was lost', async () => {
    const url = await startServer(({ socket }) => void socket.destroy());
    expect((await request(url)).reason).toMatch(/lost|hang up/);
  });

  it('ends with the message of a receiver that cannot read an event', async () => {
    const { url } = await startDashboard(({ send }) => send('change', 1));
    const onEvent = () => {
      throw new Error('not what was expected');
    };
    expect((await request(url, { onEvent })).reason).toBe('not what was expected');
  });

  it('ends when nothing arrives for too long, and an event starts the time anew', async () => {
    const { url } = await startDashboard(({ send }) => send('change', 1));
    const firstEvent = { arrived: () => undefined as unknown };
    const arrived = new Promise<void>((resolve) => {
      firstEvent.arrived = resolve;
    });
    const ended = request(url, { onEvent: () => firstEvent.arrived() });
    await environment.advance(MAX_SILENCE_MS - 1);
    await arrived;
    await environment.advance(MAX_SILENCE_MS - 1);
    await environment.advance(1);
    expect((await ended).reason).toBe('the broker has sent nothing for 5 s');
  });

  it('is silent after it was closed', async () => {
    let closeStream = () => undefined as unknown;
    const connected = new Promise<FakeStream>((resolve) => {
      void startDashboard(resolve).then(({ url }) => {
        const fail = () => expect.unreachable('closed');
        const { scheduler } = environment;
        closeStream = openEvents(
          { url: new URL('api/events', url), scheduler },
          { onEvent: fail, onEnd: fail },
        );
      });
    });
    const stream = await connected;
    closeStream();
    stream.send('change', 1);
    await environment.advance(MAX_SILENCE_MS * 2);
  });
});
