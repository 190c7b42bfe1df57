// Faults in health, metrics and what all HTTP answers share. Areas: HEALTH, METRICS, HTTP.
import type { Mutant } from './mutant.ts';

const app = 'src/http/health/health-app.ts';
const records = 'src/http/health/records.ts';
const problem = 'src/http/problem.ts';
const engine = 'src/backend/local/engine.ts';
const settlement = 'src/broker/settlement.ts';

export const httpMutants: readonly Mutant[] = [
  {
    id: 'http-health-fractions',
    title: 'memory_usage_mb has a fraction',
    file: records,
    find: 'memory_usage_mb: Math.round(memory.residentBytes / MIB),',
    replace: 'memory_usage_mb: memory.residentBytes / MIB + 0.001,',
    mustFail: ['HEALTH-001a'],
  },
  {
    id: 'http-health-without-flag',
    title: 'the health record has no is_healthy',
    file: records,
    find: '    is_healthy: isHealthy,\n',
    replace: '',
    mustFail: ['HEALTH-003a'],
    mayFail: ['HEALTH-001a', 'HEALTH-004a', 'HEALTH-012a', 'HEALTH-007a', 'HTTP-003a'],
  },
  {
    id: 'http-health-says-ok',
    title: 'status says ok where it should say healthy',
    file: records,
    find: "status: isHealthy ? 'healthy' : 'unhealthy',",
    replace: "status: (isHealthy ? 'ok' : 'unhealthy') as 'healthy',",
    mustFail: ['HEALTH-004a', 'HEALTH-001a', 'HEALTH-003a'],
  },
  {
    id: 'http-connections-never-leave',
    title: 'active_connections counts the connections ever accepted',
    file: engine,
    find: 'activeConnectionCount: this.#connections.size,',
    replace: 'activeConnectionCount: this.#admission.acceptedCount,',
    mustFail: ['HEALTH-007a', 'METRICS-016a'],
    mayFail: ['METRICS-007a'],
  },
  {
    id: 'http-queues-never-leave',
    title: 'queue_count and active_queues do not see that a queue is deleted',
    file: 'src/broker/queues.ts',
    find: '  get size(): number {\n    return this.#byName.size;',
    replace: '  get size(): number {\n    return this.#lastGeneration;',
    mustFail: ['HEALTH-007a', 'METRICS-016a'],
  },
  {
    id: 'http-health-needs-slash',
    title: 'the health record is at /health/ only',
    file: app,
    find: "app.all('/health', (event) => answerRead(event.req, () => health(options)));",
    replace:
      "app.all('/health', (event) => new URL(event.req.url).pathname.endsWith('/') ? answerRead(event.req, () => health(options)) : notFound());",
    mustFail: ['HEALTH-012a'],
  },
  {
    id: 'http-metrics-needs-no-slash',
    title: 'the metrics record is at /metrics/ only',
    file: app,
    find: '    answerRead(event.req, () => jsonResponse(metricsRecord(takeMoment(options)))),',
    replace:
      "    new URL(event.req.url).pathname.endsWith('/') ? answerRead(event.req, () => jsonResponse(metricsRecord(takeMoment(options)))) : notFound(),",
    mustFail: ['METRICS-020a'],
  },
  {
    id: 'http-errors-as-json',
    title: 'errors are described as plain JSON',
    file: problem,
    find: "'content-type': 'application/problem+json'",
    replace: "'content-type': 'application/json'",
    mustFail: ['HTTP-001a'],
  },
  {
    id: 'http-any-host',
    title: 'a request for any host is answered',
    file: app,
    find: '  if (isHostAllowed(host, allowedHosts)) return undefined;',
    replace: '  if (isHostAllowed(host, allowedHosts) || host) return undefined;',
    mustFail: ['HTTP-002a'],
  },
  {
    id: 'http-any-origin',
    title: 'answers allow requests of any origin',
    file: problem,
    find: "    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },",
    replace:
      "    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'access-control-allow-origin': '*' },",
    mustFail: ['HTTP-003a'],
  },
  {
    id: 'http-unknown-path-is-bad-request',
    title: 'an unknown path is a bad request',
    file: app,
    find: '    status: 404,',
    replace: '    status: 400,',
    mustFail: ['HTTP-007a'],
  },
  {
    id: 'http-every-method-reads',
    title: 'every method reads the record',
    file: app,
    find: "  if (request.method === 'GET') return answer();",
    replace: "  if (request.method !== 'HEAD') return answer();",
    mustFail: ['HTTP-008a'],
  },
  {
    id: 'metrics-number-as-text',
    title: 'memory_usage_bytes is a text',
    file: records,
    find: '    memory_usage_bytes: memory.residentBytes,',
    replace: '    memory_usage_bytes: String(memory.residentBytes) as never,',
    mustFail: ['METRICS-001a'],
  },
  {
    id: 'metrics-half-complete',
    title: 'the complete form lacks total_retries',
    file: records,
    find: '    total_retries: stats.retryCount,\n',
    replace: '',
    mustFail: ['METRICS-003a'],
  },
  {
    id: 'metrics-timestamp-local',
    title: 'timestamp has no time zone',
    file: records,
    find: '    timestamp: new Date(wallNow).toISOString(),\n    uptime',
    replace: "    timestamp: new Date(wallNow).toISOString().replace('Z', ''),\n    uptime",
    mustFail: ['METRICS-005a'],
  },
  {
    id: 'metrics-uptime-unpadded',
    title: 'uptime has no leading zeros',
    file: records,
    find: '    .map((part) => pad(Math.floor(part), 2))',
    replace: '    .map((part) => pad(Math.floor(part), 1))',
    mustFail: ['METRICS-006a'],
  },
  {
    id: 'metrics-accepted-falls',
    title: 'total_connections_accepted falls when a connection ends',
    file: engine,
    find: 'connectionsAcceptedCount: this.#admission.acceptedCount,',
    replace: 'connectionsAcceptedCount: this.#connections.size,',
    mustFail: ['METRICS-007a', 'METRICS-018a'],
  },
  {
    id: 'metrics-refused-are-published',
    title: 'a refused Publish counts as published',
    file: 'src/broker/broker.ts',
    find: "      return this.#step.refuse(connection, token, 'INVALID_PAYLOAD', invalid);\n    }\n    const queue",
    replace:
      "      this.#step.stats.publishedCount += 1;\n      return this.#step.refuse(connection, token, 'INVALID_PAYLOAD', invalid);\n    }\n    const queue",
    mustFail: ['METRICS-008a'],
  },
  {
    id: 'metrics-delivered-when-accepted',
    title: 'a message counts as delivered when it is accepted',
    file: settlement,
    find: '    this.#step.stats.publishedCount += 1;\n    this.#enter(queue, message);',
    replace:
      '    this.#step.stats.publishedCount += 1;\n    this.#step.stats.deliveredCount += 1;\n    this.#enter(queue, message);',
    mustFail: ['METRICS-009a'],
    mayFail: ['METRICS-011a'],
  },
  {
    id: 'metrics-every-ack-counts',
    title: 'an Ack for nothing counts as an acknowledgment',
    file: 'src/broker/broker.ts',
    find: '    const delivery = this.#deliveries.find(connection, input.id, input.queue);\n    if (delivery === undefined) return;',
    replace:
      '    const delivery = this.#deliveries.find(connection, input.id, input.queue);\n    if (delivery === undefined) this.#step.stats.acknowledgedCount += 1;\n    if (delivery === undefined) return;',
    mustFail: ['METRICS-010a'],
  },
  {
    id: 'metrics-errors-uncounted',
    title: 'Errors are not counted',
    file: engine,
    find: '        this.#errorFrameCount += 1;',
    replace: '        this.#errorFrameCount += 0;',
    mustFail: ['METRICS-013a'],
  },
  {
    id: 'metrics-settled-still-in-flight',
    title: 'in_flight_messages does not see that a delivery is settled',
    file: 'src/broker/deliveries.ts',
    find: '    queue.inFlightCount -= 1;\n    this.#step.stats.inFlightCount -= 1;',
    replace: '    queue.inFlightCount -= 1;',
    mustFail: ['METRICS-014a'],
  },
  {
    id: 'metrics-latency-in-seconds',
    title: 'the mean latency is told in seconds',
    file: records,
    find: 'average_delivery_latency_ms: stats.averageDeliveryLatencyMs,',
    replace: 'average_delivery_latency_ms: stats.averageDeliveryLatencyMs / 1000,',
    mustFail: ['METRICS-015a'],
  },
];
