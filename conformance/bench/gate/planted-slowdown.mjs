// A fixture: loaded into the broker by `npm run bench:gate -- --planted`, it makes the broker a fifth slower. Whenever a socket has received
// data, it burns a fifth of the processor time that the process has used since, so each message costs a fifth more. Not part of any product.
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

const share = 0.2;
const usedUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

let seenUs = usedUs();
let owedUs = 0;

function burn() {
  const nowUs = usedUs();
  owedUs += (nowUs - seenUs) * share;
  const untilUs = nowUs + owedUs;
  let atUs = nowUs;
  while (atUs < untilUs) atUs = usedUs();
  owedUs = untilUs - atUs;
  seenUs = atUs;
}

Socket.prototype.push = function push(...args) {
  burn();
  return Reflect.apply(Duplex.prototype.push, this, args);
};
