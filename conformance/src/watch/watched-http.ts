// Judges the HTTP answers of every check: the records of the health server and the dashboard have their fields, each in its form, and no
// counter falls. Only successful answers to GET that have the expected kind of content are judged; what else a path may answer is for its
// checks. Areas: HEALTH, METRICS, DASH.
import type { HttpAnswer } from '../check.ts';
import { display } from '../expectation.ts';
import { additionalMetrics, shorterMetrics } from '../record-forms.ts';
import type { UntimedBreach } from './watched-breach.ts';
import type { JsonFields, RecordForm } from './watched-fields.ts';
import {
  fieldBreach,
  isAnything,
  isBoolean,
  isCount,
  isNumber,
  isRecord,
  isText,
  isTimeSpan,
  isTimestamp,
  isWhole,
  parsedJson,
} from './watched-fields.ts';

export type HttpExchange = {
  readonly method: string;
  /** Below the address of the surface, with the query. */
  readonly path: string;
  readonly answer: Pick<HttpAnswer, 'status' | 'headers' | 'body'>;
  /** When the request was sent, in milliseconds since the start of the run. */
  readonly askedAtMs: number;
  /** When its answer was complete. */
  readonly answeredAtMs: number;
};

const healthForm: RecordForm = {
  what: 'the health record has its fields',
  clause: 'HEALTH-002',
  required: [
    { name: 'status', fits: isText },
    ...['active_connections', 'queue_count', 'memory_usage_mb'].map((name) => {
      return { name, fits: isCount, clause: 'HEALTH-006' };
    }),
  ],
};

/** They only count up. */
const counters = [...shorterMetrics, ...additionalMetrics].filter((name) => name.startsWith('total_'));

const metricsForm: RecordForm = {
  what: 'the metrics record has its fields',
  clause: 'METRICS-002',
  required: [
    ...shorterMetrics.map((name) => ({ name, fits: isNumber, clause: 'METRICS-004' })),
    { name: 'timestamp', fits: isTimestamp, clause: 'METRICS-005' },
  ],
  optional: [
    ...additionalMetrics.map((name) => ({ name, fits: isNumber, clause: 'METRICS-004' })),
    { name: 'uptime', fits: isTimeSpan, clause: 'METRICS-006' },
  ],
};

const wholeMetricsForm: RecordForm = {
  what: 'the dashboard shows the complete form of the metrics record',
  clause: 'DASH-004',
  required: [
    ...metricsForm.required,
    ...[...additionalMetrics, 'uptime'].map((name) => ({ name, fits: isAnything })),
  ],
  optional: metricsForm.optional ?? [],
};

const dashboardHealthForm: RecordForm = {
  what: 'the health record of the dashboard has its fields',
  clause: 'DASH-002',
  required: [
    ...['active_connections', 'queue_count', 'in_flight_messages', 'memory_usage_mb'].map((name) => {
      return { name, fits: isNumber };
    }),
    { name: 'timestamp', fits: isTimestamp },
  ],
};

const queueForm: RecordForm = {
  what: 'the record of a queue has its fields',
  clause: 'DASH-006',
  required: [
    { name: 'name', fits: isText },
    { name: 'message_count', fits: isCount },
    { name: 'subscriber_count', fits: isCount },
    { name: 'delivery_mode', fits: isAnything },
    { name: 'max_size', fits: isWhole },
    { name: 'created_at', fits: isTimestamp },
    { name: 'enable_dead_letter_queue', fits: isBoolean },
    { name: 'overflow_strategy', fits: isAnything },
    { name: 'max_retry_attempts', fits: isWhole },
  ],
  optional: [
    { name: 'message_ttl', fits: isTimeSpan, clause: 'DASH-007' },
    { name: 'dead_letter_queue_name', fits: isText, clause: 'DASH-007' },
  ],
};

const messageForm: RecordForm = {
  what: 'the record of a message has its fields',
  clause: 'DASH-009',
  required: [
    { name: 'id', fits: isText },
    { name: 'queue_name', fits: isText },
    { name: 'timestamp', fits: isTimestamp },
    { name: 'headers', fits: isAnything },
    { name: 'version', fits: isAnything },
    { name: 'priority', fits: isAnything },
    { name: 'delivery_attempts', fits: isCount },
  ],
};

/** What the paths of the dashboard answer with, by the part of the path below /api/. */
const dashboardForms: readonly (readonly [path: RegExp, form: RecordForm])[] = [
  [/^health$/, dashboardHealthForm],
  [/^metrics$/, wholeMetricsForm],
  [/^queues\/[^/]+$/, queueForm],
  [/^queues\/[^/]+\/messages$/, messageForm],
  [/^queues\/[^/]+\/messages\/[^/]+$/, { ...messageForm, clause: 'DASH-014' }],
];

export class WatchedHttp {
  /** The last record of the metrics. */
  #last: { readonly counts: JsonFields; readonly answeredAtMs: number } | undefined;

  /** Counters begin anew. */
  restarted(): void {
    this.#last = undefined;
  }

  /** The first MUST that an answer breaks; undefined if it breaks none, and for other answers. */
  breach(surface: 'health' | 'dashboard', exchange: HttpExchange): UntimedBreach | undefined {
    const { method, answer } = exchange;
    const isJson = /^application\/json\b/.test(answer.headers['content-type'] ?? '');
    const value = isJson && method === 'GET' ? parsedJson(answer.body) : undefined;
    if (value === undefined) return undefined;
    return surface === 'health'
      ? this.#healthBreach(value, exchange)
      : this.#dashboardBreach(value, exchange);
  }

  #healthBreach(value: unknown, exchange: HttpExchange): UntimedBreach | undefined {
    const { status } = exchange.answer;
    if (!isRecord(value)) return undefined;
    const isHealth = value['status'] === 'unhealthy' || (status === 200 && value['status'] === 'healthy');
    if (exchange.path === '/health/' && isHealth) return fieldBreach(value, healthForm);
    if (exchange.path !== '/metrics/' || status !== 200) return undefined;
    return fieldBreach(value, metricsForm) ?? partBreach(value) ?? this.#fallBreach(value, exchange);
  }

  #dashboardBreach(value: unknown, exchange: HttpExchange): UntimedBreach | undefined {
    const [path = ''] = exchange.path.split('?');
    if (!path.startsWith('/api/') || exchange.answer.status !== 200) return undefined;
    const below = path.slice('/api/'.length);
    if (below === 'queues') return namesBreach(value);
    const form = dashboardForms.find(([pattern]) => pattern.test(below))?.[1];
    if (form === undefined) return undefined;
    for (const record of [value].flat()) {
      const breach = isRecord(record) ? (fieldBreach(record, form) ?? nameBreach(record)) : undefined;
      if (breach !== undefined) return breach;
    }
    return below === 'metrics' && isRecord(value) ? this.#fallBreach(value, exchange) : undefined;
  }

  /** Counters of answers that were not asked for one after the other are not compared. */
  #fallBreach(counts: JsonFields, { askedAtMs, answeredAtMs }: HttpExchange): UntimedBreach | undefined {
    const earlier = this.#last;
    if (earlier !== undefined && askedAtMs <= earlier.answeredAtMs) return undefined;
    this.#last = { counts, answeredAtMs };
    const fallen = counters.find((name) => Number(counts[name]) < Number(earlier?.counts[name]));
    if (fallen === undefined) return undefined;
    const expected = `${fallen} of ${display(earlier?.counts[fallen])} or more`;
    const actual = display(counts[fallen]);
    return { clause: 'METRICS-007', what: 'a counter never falls', expected, actual };
  }
}

function partBreach(record: JsonFields): UntimedBreach | undefined {
  const present = additionalMetrics.filter((name) => Object.hasOwn(record, name));
  if (present.length === 0 || present.length === additionalMetrics.length) return undefined;
  const what = 'the metrics record has all additional fields, or none';
  return { clause: 'METRICS-003', what, expected: additionalMetrics.join(', '), actual: present.join(', ') };
}

function namesBreach(names: unknown): UntimedBreach | undefined {
  if (Array.isArray(names) && names.every(isText) && new Set(names).size === names.length) return undefined;
  const what = 'the dashboard lists the names of queues, each once';
  return { clause: 'DASH-005', what, expected: 'an array of names', actual: display(names) };
}

const snakeCase = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

function nameBreach(record: JsonFields): UntimedBreach | undefined {
  const odd = Object.keys(record).find((name) => !snakeCase.test(name));
  if (odd === undefined) return undefined;
  const what = 'the dashboard writes property names in snake_case';
  return { clause: 'DASH-028', what, expected: 'snake_case', actual: odd };
}
