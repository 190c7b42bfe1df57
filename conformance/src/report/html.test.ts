// The HTML page: one file that asks nobody for anything, holds everything, and lets nothing out of a broker's texts.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  colourfulLog,
  hostileResult,
  interruptedLog,
  sampleLog,
  sampleResult,
} from '../testing/sample-log.ts';
import { reportHtml } from './html.ts';

const page = reportHtml(colourfulLog());

function contentOf(name: 'style' | 'script', text = page): string {
  return new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1] ?? '';
}

describe('the HTML page', () => {
  it('asks nobody for anything: no address outside it, and a policy that would refuse one', () => {
    expect(page).not.toMatch(/(src|href|url)\s*[=(]\s*["']?(https?:)?\/\//i);
    expect(page).not.toContain('@import');
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(policy).toContain("default-src 'none'");
    for (const name of ['style', 'script'] as const) {
      const hash = createHash('sha256').update(contentOf(name)).digest('base64');
      expect(policy).toContain(`${name}-src 'sha256-${hash}'`);
    }
    expect(page).not.toMatch(/ style="| on\w+="/);
  });

  it('has colours for both schemes', () => {
    expect(contentOf('style')).toContain('prefers-color-scheme: dark');
    expect(page).toContain('name="color-scheme" content="light dark"');
  });

  it('has every check with its outcome under its id, and what is not right unfolded', () => {
    for (const { id, outcome } of colourfulLog().results) {
      const open = outcome === 'fail' || outcome === 'error' ? ' open' : '';
      const line = new RegExp(
        `<details class="check" id="${id}" data-outcome="${outcome}" data-words="[^"]*"${open}>`,
      );
      expect(page).toMatch(line);
    }
    const again = sampleResult('CONN-001a', 'pass', { repetition: 2 });
    expect(reportHtml(sampleLog([sampleResult('CONN-001a', 'pass'), again]))).toContain('id="CONN-001a.2"');
  });

  it('shows what explains a failure', () => {
    for (const text of [
      'The sentence of CONN-001.',
      'a song',
      'a hum',
      '<span class="f-length" title="length: 2 bytes of body">00000002</span> <span class="f-flags" title="flags: 0, not compressed">00</span> <span class="f-version" title="version: 255">ff</span>',
      '&lt;/script',
      'second line',
      'truemq-conformance run --target t.yaml --only CONN-001a --seed 7',
    ])
      expect(page.includes(text), text).toBe(true);
  });

  it('lets nothing out of a hostile text', () => {
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).not.toContain('<img');
    expect(page).toContain('\\u001b[2J\\u0000\\u202e\\ud800\\uffff');
  });

  it('stays a page when a broker talks without end', () => {
    const long = 'x'.repeat(1_000_000);
    const event = {
      atMs: 1,
      connection: 'A',
      kind: 'sent',
      text: long,
      hex: 'ab'.repeat(1_000_000),
      byteCount: 1_000_000,
    } as const;
    const result = {
      ...hostileResult('CONN-001a'),
      actual: long,
      trace: Array.from({ length: 1000 }, () => event),
    };
    const text = reportHtml(sampleLog([result]));
    expect(text.length).toBeLessThan(2_000_000);
    expect(text).toContain('last 200 of 1000 events');
  });

  it('opens with what is broken: the rules, then the checks that are not right', () => {
    const cause = {
      id: 'CONN-001',
      level: 'MUST',
      sentence: 'It hums.',
      shownBy: ['CONN-001a'],
      blocked: [],
    } as const;
    const text = reportHtml(sampleLog([hostileResult('CONN-001a')], { finish: { causes: [cause] } }));
    const head = text.slice(text.indexOf('<header>'), text.indexOf('</header>'));
    expect(head).toContain('<a class="rule" href="#rule-CONN-001">CONN-001</a> (MUST) It hums.');
    expect(head).toContain('<dt>failed <small>1</small></dt><dd><a href="#CONN-001a">');
  });

  it('has for every link a place on the page that it leads to', () => {
    const blocked = sampleResult('CONN-002a', 'blocked', {
      reliesOn: 'CONN-001',
      blockedBy: { clause: 'CONN-001', shownBy: ['CONN-001a'] },
    });
    const text = reportHtml(sampleLog([...colourfulLog().results.slice(0, 1), blocked]));
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links).toContain('rule-CONN-001');
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
    expect(text).toContain(
      '<li id="rule-CONN-001"><b>CONN-001</b> <span class="level">MUST</span> The sentence of CONN-001.',
    );
    expect(text).toContain('Needs <a class="rule" href="#rule-CONN-001">');
  });

  it('folds polls that were answered alike', () => {
    const poll = (kind: 'sent' | 'received', index: number) => ({
      atMs: index,
      connection: 'A',
      kind,
      text: `${kind === 'sent' ? 'Ping' : 'Pong'} id=c-${index}`,
      hex: '',
      byteCount: 0,
    });
    const trace = Array.from({ length: 12 }, (_, index) => [
      poll('sent', index),
      poll('received', index),
    ]).flat();
    const text = reportHtml(sampleLog([sampleResult('CONN-001a', 'fail', { trace })]));
    expect(text).toContain('12 times until 11.0 ms: Ping id=c-0, answered by Pong id=c-0');
    expect(text).toContain('On the wire: 24 events');
    expect(text).not.toContain('Ping id=c-1<');
  });

  it('says of an interrupted run that it is one', () => {
    const text = reportHtml(interruptedLog());
    expect(text).toContain('tiny is NOT SHOWN to be conformant');
    expect(text).toContain('The event log has no end');
    expect(text).toContain('verdict undetermined');
  });

  it('has a script that a browser can read', () => {
    expect(() => new Function(contentOf('script'))).not.toThrow();
  });
});
