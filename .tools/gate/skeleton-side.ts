// The skeleton as a side of the gate. Runs as a process of its own.
import { Relay } from '../../conformance/bench/skeleton/relay.ts';
import { serveOrders } from './side.ts';

serveOrders(new Relay());
